"""Agent World Model's servers in a guest: FastAPI and SQLAlchemy on the rows of a call, without network or file."""
