"""Alembic's entry point: connects to the configured ledger and migrates it."""

from alembic import context
from sqlalchemy import create_engine, pool

from registry.ledger.tables import metadata

engine = create_engine(context.config.attributes["url"], poolclass=pool.NullPool)
with engine.connect() as connection:
    context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()
