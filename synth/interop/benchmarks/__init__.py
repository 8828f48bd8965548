"""Public benchmarks as bundles: a user's clone or installed package is read as text, and nothing of it runs here."""
