"""SQLite in a guest: connections, tables, rows of instances, changesets.

The worker uses parts of it. It knows nothing of the worker.
"""
