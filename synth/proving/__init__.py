"""Showing by running it what is true of an environment: a stage, drawn calls, and the proof."""
