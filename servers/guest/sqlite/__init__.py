"""SQLite inside a guest: connections, tables, rows of instances, changesets.

The worker uses parts of it; it knows nothing of the worker.
"""
