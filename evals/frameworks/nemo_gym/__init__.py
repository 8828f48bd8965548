"""The adapter for NeMo Gym, which runs in an environment of its own and asks the farm over HTTP."""
