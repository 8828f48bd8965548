"""Training agents on the farm."""
