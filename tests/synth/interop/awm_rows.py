"""Rows as AgentWorldModel-1K's files hold them, of a small environment that was written for these tests."""

import json
from pathlib import Path
from typing import Any

CODE = """from fastapi import Body, Depends, FastAPI, HTTPException, Query
from pydantic import BaseModel, Field
from typing import List, Optional
from sqlalchemy import Column, DateTime, ForeignKey, Integer, String, create_engine
from sqlalchemy.orm import declarative_base, sessionmaker
from datetime import datetime
import os

engine = create_engine(os.getenv("DATABASE_PATH", "sqlite:///shop.db"))
SessionLocal = sessionmaker(bind=engine)
Base = declarative_base()


class Product(Base):
    __tablename__ = "products"
    id = Column(Integer, primary_key=True)
    name = Column(String, unique=True)
    price = Column(Integer)


class Line(Base):
    __tablename__ = "lines"
    user_id = Column(Integer, primary_key=True)
    product_id = Column(Integer, ForeignKey("products.id"), primary_key=True)
    added_at = Column(DateTime, default=datetime.utcnow)


Base.metadata.create_all(bind=engine)


class ProductModel(BaseModel):
    id: int
    name: str
    price: int


class AddBody(BaseModel):
    product_id: int = Field(..., description="The product's id.")
    since: Optional[datetime] = None


app = FastAPI()
SEEN = []


def session_of():
    session = SessionLocal()
    try:
        yield session
    finally:
        session.close()


@app.get("/products", operation_id="list_products", response_model=List[ProductModel])
async def list_products(most: int = Query(10, ge=1, le=50, description="How many.")):
    session = SessionLocal()
    found = session.query(Product).order_by(Product.id).limit(most).all()
    session.close()
    return [ProductModel(id=one.id, name=one.name, price=one.price) for one in found]


@app.get("/products/{product_id}", operation_id="get_product")
def get_product(product_id: int, session=Depends(session_of)):
    found = session.get(Product, product_id)
    if found is None:
        raise HTTPException(status_code=404, detail="No such product")
    return {"id": found.id, "name": found.name}


@app.post("/cart", operation_id="add_to_cart", description="Put a product into the cart.")
async def add_to_cart(body: AddBody = Body(...)):
    session = SessionLocal()
    session.add(Line(user_id=1, product_id=body.product_id, **({"added_at": body.since} if body.since else {})))
    session.commit()
    lines = session.query(Line).count()
    session.close()
    return {"lines": lines}


@app.post("/products", operation_id="rename_two")
async def rename_two(name: str):
    session = SessionLocal()
    session.query(Product).filter(Product.id == 1).update({"name": name})
    session.commit()
    session.query(Product).filter(Product.id == 2).update({"name": "left open"})
    try:
        session.add(Product(name=name, price=1))
        session.commit()
    except Exception:
        session.rollback()
        raise HTTPException(status_code=200, detail="kept the first")
    return {}


@app.post("/remember", operation_id="remember")
async def remember():
    SEEN.append(1)
    return {}


@app.post("/wait", operation_id="wait")
async def wait():
    import asyncio
    await asyncio.sleep(5)


@app.get("/broken", operation_id="broken")
async def broken():
    return 1 / 0


@app.get("/again", operation_id="list_products")
async def again():
    return {}
"""
SCHEMA: list[dict[str, Any]] = [
    {
        "name": "products",
        "ddl": "CREATE TABLE products (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, price INTEGER);",
        "indexes": ["CREATE INDEX idx_products_price ON products(price);"],
    },
    {
        "name": "lines",
        "ddl": "CREATE TABLE lines (user_id INTEGER, product_id INTEGER REFERENCES products(id) ON DELETE CASCADE, "
        "added_at DATETIME, PRIMARY KEY (user_id, product_id), FOREIGN KEY (user_id) REFERENCES users(id));",
        "indexes": [],
    },
]
SAMPLES = [
    {
        "table_name": "products",
        "insert_statements": [
            "INSERT INTO products VALUES (1, 'saw', 20);",
            "INSERT INTO products VALUES (2, 'drill; red', 90);",
        ],
    }
]
BOUGHT = """def verify_task_completion(initial_db_path: str, final_db_path: str, final_answer: str = None) -> dict:
    import sqlite3, os
    if not os.path.exists(final_db_path):
        return {"result": "others"}
    with sqlite3.connect(f"file:{final_db_path}?mode=ro", uri=True) as connection:
        connection.row_factory = sqlite3.Row
        lines = connection.execute("SELECT product_id FROM lines WHERE user_id = ?", (1,)).fetchall()
    before = sqlite3.connect(initial_db_path).execute("SELECT count(*) FROM lines").fetchone()[0]
    done = before == 0 and [line["product_id"] for line in lines] == [2] and "90" in (final_answer or "")
    return {"result": "complete" if done else "others"}
"""


def verifier(body: str) -> str:
    """A verifier with this body."""
    return f"def verify_task_completion(initial_db_path, final_db_path, final_answer=None):\n    {body}\n"


def write(folder: Path, *verifiers: str, code: str = CODE, **changes: Any) -> Path:
    """The files of one environment, `shop_1`, with a task for each verifier and one more."""
    folder.mkdir(parents=True, exist_ok=True)
    rows: dict[str, dict[str, Any]] = {
        "gen_envs": {"full_code": code, "db_path": "./shop.db"},
        "gen_db": {"db_schema": {"tables": SCHEMA}},
        "gen_sample": {"sample_data": {"tables": SAMPLES}},
        "gen_spec": {"api_spec": {"api_groups": [{"group_name": "cart", "endpoints": []}]}},
        "gen_tasks": {"tasks": [*(f"Task {number}" for number in range(len(verifiers))), "Buy nothing."]},
        **changes,
    }
    for name, row in rows.items():
        (folder / f"{name}.jsonl").write_text(json.dumps({"scenario": "shop_1", **row}) + "\n", encoding="utf-8")
    lines = [
        json.dumps({"scenario": "shop_1", "task_idx": number, "task": "", "verification": {"code": text}})
        for number, text in enumerate(verifiers)
    ]
    (folder / "gen_verifier.pure_code.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder
