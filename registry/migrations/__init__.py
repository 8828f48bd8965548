"""Migrations of the ledger.

Only this package imports Alembic: it takes half a second, and most starts do not need it.
"""
