"""Files that are written atomically, locked, private or secret. Their content does not matter here."""
