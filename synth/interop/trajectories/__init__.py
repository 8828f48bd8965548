"""Recorded trajectories of EnvScaler's agents, played again on a farm. Nothing here writes bundles."""
