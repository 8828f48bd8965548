"""One training episode on a leased instance: messages as tokens, calls, score.

This package does not know the trainer's loop.
"""
