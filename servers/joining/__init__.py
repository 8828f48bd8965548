"""How a worker joins a registry: the messages, the proofs of both sides, and the worker's side of it."""
