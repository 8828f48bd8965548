"""Words for people: plurals, suggestions, and safe terminal output. Nothing here knows environments."""
