"""A training that shows in minutes that training works."""
