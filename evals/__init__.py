"""Rollouts, suites, reports, judging again and training data. It reaches environments through a farm alone."""
