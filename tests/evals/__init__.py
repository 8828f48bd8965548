"""Tests of playing and judging."""
