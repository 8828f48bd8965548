"""Tests of proving."""
