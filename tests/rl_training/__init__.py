"""Training: what a trainer is given of an episode, and what becomes of it when something breaks."""
