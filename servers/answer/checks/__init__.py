"""What an answer must hold: one file a kind of fact, on top of what the readers beside it find. Pure functions."""
