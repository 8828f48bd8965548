"""Scenarios that a writer proposes and a solver plays: what nobody could do, or what proves nothing, is dropped."""
