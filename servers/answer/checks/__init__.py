"""Whether a text tells a fact, one module for each sort of fact. Pure functions, as in `servers.answer`."""
