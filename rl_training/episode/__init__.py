"""One training episode on a leased instance: messages as tokens, calls, score.

Nothing here knows the trainer's loop.
"""
