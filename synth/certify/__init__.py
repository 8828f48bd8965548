"""The certificate of a scenario, and what its task and answers must hold for it."""
