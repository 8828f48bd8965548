"""verl on a machine without an accelerator: a platform, an engine, a tiny model. For tests and demos."""
