"""Files that are written atomically, locked, private, or named by a user. Their content does not matter here."""
