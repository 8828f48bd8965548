"""Checks requests against the published OpenAPI document: the methods of a path, the names in a query."""

from collections import Counter
from collections.abc import Mapping
from re import Pattern
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from starlette.routing import compile_path

from registry.messages import HEALTH

METHODS = {"get", "put", "post", "delete", "patch", "head", "options", "trace"}


class Published:
    """The paths of an app's OpenAPI document."""

    def __init__(self) -> None:
        self._paths: list[tuple[Pattern[str], dict[str, Any]]] = []

    def read(self, document: Mapping[str, Any]) -> None:
        """Take them from the document of the finished app."""
        self._paths = [(compile_path(path)[0], operations) for path, operations in document["paths"].items()]

    def _operations(self, path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        return next((operations for pattern, operations in self._paths if pattern.match(path)), found)

    def methods(self, path: str) -> list[str]:
        """The methods that a path answers to."""
        more = {"head"} if path == HEALTH else set[str]()
        return sorted(name.upper() for name in self._operations(path).keys() & METHODS | more)

    async def nothing_else(self, request: Request) -> None:
        """Refuse a query with an unknown or a repeated name, and a body where none is published.

        Raises:
            RequestValidationError: names each of them.
        """
        operation = self._operations(request.url.path).get(request.method.lower(), {})
        names = [one["name"] for one in operation.get("parameters", []) if one["in"] == "query"]
        known = f"there are: {', '.join(names)}" if names else "there are none"
        problems: list[dict[str, Any]] = [
            {
                "type": "query",
                "loc": ("query", name),
                "msg": "given twice" if name in names else f"no such name; {known}",
            }
            for name, times in Counter(name for name, _ in request.query_params.multi_items()).items()
            if name not in names or times > 1
        ]
        if "requestBody" not in operation and await request.body():
            problems.append({"type": "body", "loc": ("body",), "msg": "this request takes none"})
        if problems:
            raise RequestValidationError(problems)
