"""A scenario of an environment as typed values: start, task, checkpoints, reference, certificate."""
