"""Tasks and questions in a person's words, from an environment's phrases."""
