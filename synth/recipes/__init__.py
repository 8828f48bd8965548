"""Harder scenarios made without a model: a bundle's recipes, filled from its rows."""
