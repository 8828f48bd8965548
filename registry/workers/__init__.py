"""The workers of a farm as its registry sees them: where they are, which one gets an instance, and which are silent."""
