"""Playing and judging many rollouts."""
