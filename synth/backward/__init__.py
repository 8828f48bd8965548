"""Scenarios made without a model: errands of calls first, tasks and checkpoints from them."""
