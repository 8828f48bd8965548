"""The agent's side: one URL and one token, a model, a toolbox, a trace. It knows nothing of the farm."""
