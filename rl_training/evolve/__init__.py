"""Rounds of evaluating an agent, making scenarios where it is weak, and training it. Nothing here trains by itself."""
