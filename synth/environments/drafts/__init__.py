"""What several stages do with an unfinished environment: build it, describe it, play calls on it."""
