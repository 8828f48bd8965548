"""Retelling: a writer tells a certified task anew, as a person would write it."""
