"""The state of one instance: its file, start images, changesets, row diffs, read-only queries.

Nothing here talks to agents.
"""
