"""Certified scenarios as conversations with a simulated user."""
