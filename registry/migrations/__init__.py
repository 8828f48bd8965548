"""How an older ledger becomes one of today.

Alembic is imported here alone: it costs half a second, and most starts do not need it.
"""
