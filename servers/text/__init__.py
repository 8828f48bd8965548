"""Words for people: plurals, suggestions, and what a terminal may be shown. Nothing here knows of environments."""
