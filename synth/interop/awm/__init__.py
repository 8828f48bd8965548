"""Agent World Model's environments as bundles."""
