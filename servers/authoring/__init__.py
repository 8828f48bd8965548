"""Tools for an author of bundles: a new bundle, every finding about one, scenarios added to one.

A farm that serves needs none of it.
"""
