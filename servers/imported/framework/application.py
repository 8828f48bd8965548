"""Requests to a FastAPI application without a network: its code is loaded once, and an endpoint's coroutine runs alone.

There is one engine, on the database of the call. A guest has no threads, so plain functions run where they are called.
"""

import builtins
import copy
import json
import re
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, suppress
from functools import cached_property, lru_cache
from types import ModuleType
from typing import Any, cast
from urllib.parse import quote, urlencode

import fastapi
import fastapi.dependencies.utils
import fastapi.routing
import sqlalchemy
import starlette.background
import starlette.concurrency
from fastapi.openapi.utils import get_openapi
from sqlalchemy.pool import StaticPool

from servers.gate.allowed_modules import IMPORTED_NAMES
from servers.guest.sqlite.connection import connect
from servers.imported import datetime, secrets, time, uuid
from servers.imported.awm import serving, sqlite3
from servers.toolkit import ToolError

PACKAGES = ("fastapi", "pydantic", "pydantic_core", "sqlalchemy", "starlette", "typing_extensions")
"""Packages that a server may import, beside what imported code may."""
METHODS = ("get", "post", "put", "patch", "delete")
KEPT = frozenset({
    "type", "enum", "const", "items", "properties", "required", "anyOf", "description", "default", "minimum", "maximum",
    "exclusiveMinimum", "exclusiveMaximum", "minLength", "maxLength", "minItems", "maxItems", "pattern",
    "additionalProperties",
})  # fmt: skip
"""Keywords of a tool's schema that are kept."""
TOLD = ("arguments", "description", "function", "route")
DEEPEST = 12
BODY = "body"
SHOWN = 500
DATA = (bool, int, float, str, list, dict, set, tuple, type(None))
MOST_STEPS = 10_000
"""How often an endpoint may let others run: nobody else is there."""


class ServerFault(Exception):
    """The server failed, or it needs what a guest does not have."""


class LoadedServer:
    """The loaded code of a server."""

    def __init__(self, code: str) -> None:
        self.engines: list[sqlalchemy.Engine] = []
        self.module = ModuleType("server")
        vars(self.module)["__builtins__"] = {**vars(builtins), "__import__": self._import}
        opened, sqlite3.DATABASES.open = sqlite3.DATABASES.open, {sqlite3.MAIN: connect()}
        try:
            exec(compile(code, "server.py", "exec"), vars(self.module))  # noqa: S102 - a guest exists to run it
        finally:
            sqlite3.DATABASES.open = opened
        self.app = self._app()

    def _app(self) -> fastapi.FastAPI:
        for value in vars(self.module).values():
            if isinstance(value, fastapi.FastAPI):
                return value
        raise ServerFault("the code has no FastAPI application")

    def _engine(self, *_given: object, **_more: object) -> sqlalchemy.Engine:
        """What `create_engine` makes, whatever the URL: an engine on the database of the call."""
        made = sqlalchemy.create_engine("sqlite://", module=sqlite3, poolclass=StaticPool)
        with made.connect():  # now, as the database of a call answers no pragma
            self.engines.append(made)
        return made

    def _import(
        self, name: str, _globals: object = None, _locals: object = None, fromlist: Any = (), level: int = 0
    ) -> Any:
        top = name.partition(".")[0]
        stands_in = STAND_INS.get(name)
        if level:
            raise ImportError(f"import of {'.' * level}{name}: a server is one module")
        if stands_in is not None:
            return stands_in
        if name in ("sqlalchemy", "sqlalchemy.engine"):
            real = builtins.__import__(name, None, None, fromlist or ("Engine",), 0)
            module = ModuleType(name)
            vars(module).update({**vars(cast("ModuleType", real)), "create_engine": self._engine})
            return module
        if top in PACKAGES or name in IMPORTED_NAMES:
            return builtins.__import__(name, None, None, fromlist or (), 0)
        raise ImportError(f"import {name}: may not be imported")

    @property
    def operations(self) -> dict[str, dict[str, Any]]:
        """The endpoints by the names of their tools. To describe them takes longer than to load the code."""
        return self._described[0]

    @property
    def collisions(self) -> list[str]:
        """What is never reached, in words."""
        return self._described[1]

    @cached_property
    def _described(self) -> tuple[dict[str, dict[str, Any]], list[str]]:
        paths: dict[str, dict[str, Any]] = get_openapi(title="", version="1", routes=self.app.routes)["paths"]
        whole = self.app.openapi()
        functions = {
            str(getattr(route, "operation_id", None) or getattr(route, "unique_id", "")): route.endpoint.__name__
            for route in self.app.routes
            if isinstance(route, fastapi.routing.APIRoute)
        }
        operations: dict[str, dict[str, Any]] = {}
        collisions: list[str] = []
        for path, methods in paths.items():
            for method, told in methods.items():
                if method not in METHODS:
                    continue
                name = _tool_name(told["operationId"])
                if name in operations:
                    collisions.append(f"{method.upper()} {path}: {name} is another endpoint's operation_id too")
                    continue
                function = functions.get(told["operationId"], "")
                operations[name] = {"function": function, **_plan(path, method, told, whole), **_words(told)}
        seen: set[tuple[str, str]] = set()
        for route in self.app.routes:
            for method in sorted(getattr(route, "methods", None) or ()):
                key = (method, str(getattr(route, "path", "")))
                if key in seen:
                    collisions.append(f"{method} {key[1]}: a second endpoint of it is never reached")
                seen.add(key)
        return operations, collisions

    def held(self) -> dict[str, Any]:
        """A copy of what the module keeps beside its database."""
        return {
            name: copy.deepcopy(cast("Any", value))
            for name, value in vars(self.module).items()
            if isinstance(value, DATA) and not name.startswith("__")
        }


STAND_INS: dict[str, Any] = {
    "datetime": datetime,
    "os": serving.os,
    "os.path": serving.os.path,
    "secrets": secrets,
    "sqlite3": sqlite3,
    "time": time,
    "uuid": uuid,
    "uvicorn": ModuleType("uvicorn"),
}


@lru_cache(1)
def _server(code: str) -> LoadedServer:
    return LoadedServer(code)


def endpoints(code: str) -> list[dict[str, Any]]:
    """The endpoints of a server, as tools, and what collides."""
    server = _server(code)
    return [
        {"name": name, "reads": plan["route"]["method"] == "get", **{key: plan[key] for key in TOLD}}
        for name, plan in server.operations.items()
    ] + [{"collision": one} for one in server.collisions]


def respond(code: str, route: str | dict[str, Any], arguments: dict[str, Any]) -> dict[str, Any]:
    """The answer of an endpoint: its route, or the name of its tool.

    Raises:
        ToolError: a status from 400 to 499.
        ServerFault: another failure.
    """
    server = _server(code)
    before = server.held()
    found = server.operations[route]["route"] if isinstance(route, str) else route
    status, body = _run(_exchange(server.app, _request(found, arguments)))
    if server.held() != before:
        _server.cache_clear()
        raise ServerFault("it keeps something beside its database, which would be shared by all instances")
    if status >= 500:
        raise ServerFault(f"status {status}: {body[:SHOWN].decode('utf-8', 'replace')}")
    if status >= 400:
        raise ToolError(_refusal(status, body))
    told: Any = json.loads(body) if body.strip() else {}
    return cast("dict[str, Any]", told) if isinstance(told, dict) else {"result": told}


def let_go(code: str) -> None:
    """Roll back what an endpoint has not committed."""
    for engine in _server(code).engines:
        pooled = getattr(engine.pool, "connection", None)
        if pooled is not None and pooled.dbapi_connection is not None:
            pooled.dbapi_connection.rollback()


def _refusal(status: int, body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    try:
        detail: Any = json.loads(text)["detail"]
    except (ValueError, LookupError, TypeError):
        detail = text
    return detail if isinstance(detail, str) and detail else f"status {status}: {text[:SHOWN]}"


def _request(route: dict[str, Any], arguments: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """An ASGI scope and a body."""
    path, body = route["path"], dict[str, Any]()
    query, headers = list[tuple[str, Any]](), list[tuple[bytes, bytes]]()
    for name, value in arguments.items():
        place = route["places"][name]
        if place == "path":
            path = re.sub(r"\{" + re.escape(name) + r"(:[a-z]+)?\}", quote(_plain(value), safe=""), path)
        elif place == "query":
            query += [(name, _plain(one)) for one in (value if isinstance(value, list) else [value])]  # pyright: ignore
        elif place == "header":
            headers.append((name.replace("_", "-").encode(), _plain(value).encode()))
        else:
            body[name] = value
    sent = b""
    if route["body"] is not None:
        sent = json.dumps(body.get(BODY) if route["body"] == "whole" else body).encode()
        headers += [(b"content-type", b"application/json"), (b"content-length", str(len(sent)).encode())]
    scope: dict[str, Any] = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": route["method"].upper(),
        "scheme": "http", "path": path, "raw_path": path.encode(), "root_path": "", "headers": headers,
        "query_string": urlencode(query).encode(), "server": ("127.0.0.1", 8000), "client": ("127.0.0.1", 1),
    }  # fmt: skip
    return scope, sent


def _plain(value: Any) -> str:
    return json.dumps(value) if isinstance(value, (bool, dict, type(None))) else str(value)


async def _exchange(app: fastapi.FastAPI, request: tuple[dict[str, Any], bytes]) -> tuple[int, bytes]:
    scope, sent = request
    status, body = 500, b""

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": sent, "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal status, body
        status = message.get("status", status)
        body += message.get("body", b"")

    await app(scope, receive, cast("Any", send))
    return status, body


def _run(coroutine: Any) -> Any:
    """Run a coroutine that waits for nobody.

    Raises:
        ServerFault: it waits for something.
    """
    try:
        for _ in range(MOST_STEPS):
            if coroutine.send(None) is not None:
                break
    except StopIteration as end:
        return end.value
    finally:
        coroutine.close()
    raise ServerFault("it waits for something that a guest does not have")


def _tool_name(operation: str) -> str:
    return re.sub(r"[^a-z0-9_]+", "_", operation.lower()).strip("_")[:60]


def _words(told: dict[str, Any]) -> dict[str, Any]:
    text = str(told.get("description") or told.get("summary") or told["operationId"])
    return {"description": text}


def _plan(path: str, method: str, told: dict[str, Any], whole: dict[str, Any]) -> dict[str, Any]:
    """Where each argument of an endpoint goes, and the schema of all. `body`: None, by `parts`, or the `whole`."""
    places: dict[str, str] = {}
    properties: dict[str, Any] = {}
    required: list[str] = []
    for one in told.get("parameters", ()):
        name = one["name"]
        places[name] = one["in"]
        properties[name] = {**_schema(one.get("schema", {}), whole), "description": one.get("description") or name}
        if one.get("required"):
            required.append(name)
    content: dict[str, Any] = told.get("requestBody", {}).get("content", {})
    kind: str | None = None
    if content:
        schema = _schema(content.get("application/json", {}).get("schema", {}), whole)
        parts: dict[str, Any] = schema.get("properties") or {}
        kind = "parts" if parts and not set(parts) & set(places) else "whole"
        given = parts if kind == "parts" else {BODY: schema}
        for name, part in given.items():
            places[name] = BODY
            properties[name] = {**part, "description": part.get("description") or name}
        if told["requestBody"].get("required"):
            required += schema.get("required", []) if kind == "parts" else [BODY]
    arguments = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"route": {"method": method, "path": path, "places": places, "body": kind}, "arguments": arguments}


def _schema(told: dict[str, Any], whole: dict[str, Any], depth: int = 0) -> dict[str, Any]:
    """A schema without references. What refers to itself is any object below a depth."""
    if depth > DEEPEST:
        return {}
    reference = told.get("$ref")
    if isinstance(reference, str):
        found: Any = whole
        for part in reference.removeprefix("#/").split("/"):
            found = found[part]
        return _schema({**found, **{key: value for key, value in told.items() if key != "$ref"}}, whole, depth + 1)
    alone = told.get("allOf")
    if isinstance(alone, list) and len(cast("list[Any]", alone)) == 1:
        return _schema({**alone[0], **{key: value for key, value in told.items() if key != "allOf"}}, whole, depth + 1)
    kept = {key: value for key, value in told.items() if key in KEPT}
    for key in ("items", "additionalProperties"):
        if isinstance(kept.get(key), dict):
            kept[key] = _schema(kept[key], whole, depth + 1)
    if isinstance(kept.get("properties"), dict):
        kept["properties"] = {name: _schema(one, whole, depth + 1) for name, one in kept["properties"].items()}
    if isinstance(kept.get("anyOf"), list):
        kept["anyOf"] = [_schema(one, whole, depth + 1) for one in kept["anyOf"]]
    return kept


async def _at_once(function: Callable[..., Any], /, *given: Any, **named: Any) -> Any:
    """What runs a plain function in a thread elsewhere."""
    return function(*given, **named)


@asynccontextmanager
async def _entered(context: AbstractContextManager[Any]) -> AsyncGenerator[Any]:
    with context as value:
        yield value


def _without_threads() -> None:
    """Have FastAPI and Starlette call plain functions directly: a guest cannot start a thread."""
    for module in (fastapi.routing, fastapi.dependencies.utils, starlette.concurrency, starlette.background):
        setattr(module, "run_in_threadpool", _at_once)  # noqa: B010 - pyright: a module's attribute
    setattr(fastapi.dependencies.utils, "contextmanager_in_threadpool", _entered)  # noqa: B010


WARM = """
from typing import Optional
from fastapi import Body, Depends, FastAPI, HTTPException, Path, Query
from pydantic import BaseModel, EmailStr, Field
from sqlalchemy import Column, DateTime, Integer, String, create_engine
from sqlalchemy.orm import declarative_base, sessionmaker
from datetime import datetime

engine = create_engine("sqlite://")
Session = sessionmaker(bind=engine)
Base = declarative_base()

class Item(Base):
    __tablename__ = "items"
    id = Column(Integer, primary_key=True)
    name = Column(String)
    at = Column(DateTime, default=datetime.utcnow)

class Given(BaseModel):
    name: str
    at: Optional[datetime] = None

app = FastAPI()

@app.post("/items/{number}", operation_id="warm", response_model=Given)
async def warm(number: int = Path(...), size: int = Query(1), given: Given = Body(...)):
    session = Session()
    session.add(Item(name="a"))
    session.commit()
    session.query(Item).filter(Item.id == number).limit(size).all()
    session.close()
    if number:
        raise HTTPException(status_code=404, detail="none")
    return given
"""


def warm_up() -> None:
    """Answer requests of a small server, so that everything which is imported late has been."""
    database = connect()
    database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, at DATETIME)")
    sqlite3.DATABASES.open = {sqlite3.MAIN: database}
    for number in (0, 1):
        with suppress(ToolError):
            respond(WARM, "warm", {"number": number, "name": "a", "at": "2025-01-01T00:00:00Z"})
    let_go(WARM)
    sqlite3.DATABASES.open = {}
    _server.cache_clear()


_without_threads()
warm_up()
