"""The instances of one machine: calls, history, state, scores. It listens on no socket."""
