"""EnvScaler's entries as bundles."""
