"""Scenarios turned into conversations: who asks, what they say first, and what they tell only when it is their turn."""
