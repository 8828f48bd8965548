"""The agent side: whoever has one URL and one token can play."""
