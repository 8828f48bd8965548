"""Rollouts, suites, reports, judging again and training data. Environments are reached through a farm only."""
