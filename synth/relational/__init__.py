"""Imported environments written anew as tables and SQL, and the proof that both do the same."""
