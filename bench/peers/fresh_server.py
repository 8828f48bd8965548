"""A process for each instance, the way Agent World Model serves: FastAPI over a rebuilt database.

Each instance is this program on its own port. It deletes its database, builds it again from the DDL and one INSERT per
row, and serves the tool as a route. To reset it is to end it and start another. Left out: MCP on top of the routes
(`fastapi-mcp`), which would cost it more, and the files that AWM copies for its verifier. No token, history or wall.

Run as `python -m bench.peers.fresh_server PORT DATABASE`.
"""

import sys
from pathlib import Path
from typing import Any

import uvicorn
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel
from sqlalchemy import create_engine, text
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from bench.subject import ITEMS, SCHEMA


class Base(DeclarativeBase):
    """The tables of the environment."""


class Item(Base):
    """What lies in the store."""

    __tablename__ = "items"
    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    stock: Mapped[int]


class AddToStock(BaseModel):
    """The arguments of the one tool."""

    item_id: str
    count: int


def application(database: Path) -> FastAPI:
    """The environment on a newly built database."""
    database.unlink(missing_ok=True)
    engine = create_engine(f"sqlite:///{database}")
    with engine.begin() as connection:
        connection.execute(text(SCHEMA))
        for item_id, name, stock in ITEMS:
            values = {"id": item_id, "name": name, "stock": stock}
            connection.execute(text("INSERT INTO items VALUES (:id, :name, :stock)"), values)
    app = FastAPI()

    @app.post("/add_to_stock")
    def add_to_stock(order: AddToStock) -> dict[str, Any]:  # pyright: ignore[reportUnusedFunction]
        with Session(engine) as session:
            item = session.get(Item, order.item_id)
            if item is None:
                raise HTTPException(404, f"no item {order.item_id!r}")
            item.stock += order.count
            result = {"item_id": item.id, "name": item.name, "stock": item.stock}
            session.commit()
        return result

    return app


if __name__ == "__main__":
    uvicorn.run(application(Path(sys.argv[2])), port=int(sys.argv[1]), log_level="warning", access_log=False)
