"""Training without a GPU: a platform and a rollout engine for verl, and a model small enough. A means of testing."""
