"""A farm's environments in Inspect AI, verifiers and OpenEnv. Nothing else here needs these frameworks."""
