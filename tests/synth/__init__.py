"""Tests of writing and proving."""
