"""Bundles as EnvScaler's files."""
