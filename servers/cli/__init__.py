"""Options and arguments that several commands share. This package has no commands."""
