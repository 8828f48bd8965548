"""Files that are written whole, locked, private or secret. Nothing here knows what they hold."""
