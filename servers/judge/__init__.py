"""Checkpoints asked of a final state, and the reward. It changes nothing."""
