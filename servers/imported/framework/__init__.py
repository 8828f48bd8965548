"""FastAPI and SQLAlchemy in a guest, which loads this only to serve an application of others."""
