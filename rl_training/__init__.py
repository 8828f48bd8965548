"""Training agents on a farm with verl or TRL."""
