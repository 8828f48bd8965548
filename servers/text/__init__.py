"""Words for people (plurals, suggestions, safe terminal output), and parsed JSON. Nothing here knows environments."""
