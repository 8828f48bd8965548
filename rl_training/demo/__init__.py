"""A demo that shows in minutes that training works."""
