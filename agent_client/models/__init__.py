"""Models behind endpoints, as agents and as simulated users. They do not play episodes."""
