"""Options and arguments that several commands share. No command and no work is here."""
