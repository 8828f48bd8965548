"""What security.md and limits.md promise: each test that they name is there, each value is what holds."""

import ast
import importlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
UNITS = {"": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "s": 1}
NAMED_TEST = re.compile(r"`(tests/[\w/]+\.py)::(\w+)`")
LIMIT = re.compile(r"\| (?P<what>[^|]+) \| (?P<number>[\d,.]+) ?(?P<unit>\w*) \| `(?P<constant>[\w.]+)` \|")


def page(name: str) -> str:
    [file] = (ROOT / "docs").rglob(name)
    return file.read_text(encoding="utf-8")


@cache
def defined_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_a_test_that_is_named_is_there() -> None:
    told = {found for one in ("security.md", "limits.md") for found in NAMED_TEST.findall(page(one))}
    assert len(told) > 25
    assert [f"{path}::{name}" for path, name in told if name not in defined_in(ROOT / path)] == []


def test_every_promise_names_a_test() -> None:
    covered = page("security.md").partition("## Covered")[2].partition("\n## ")[0]
    promises = [line for line in covered.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(promises) > 25
    assert [line for line in promises if "`tests/" not in line and "| the same |" not in line] == []


def test_every_limit_names_a_test() -> None:
    found = [limit["what"] for limit in LIMIT.finditer(page("limits.md"))]
    bare = [line for line in page("limits.md").splitlines() if LIMIT.match(line) and "`tests/" not in line]
    assert (len(found) > 25, bare) == (True, [])


@pytest.mark.parametrize("limit", list(LIMIT.finditer(page("limits.md"))), ids=lambda limit: limit["what"])
def test_a_limit_has_the_value_that_is_told(limit: re.Match[str]) -> None:
    module, _, name = limit["constant"].rpartition(".")
    holder: Any
    try:
        holder = importlib.import_module(module)
    except ModuleNotFoundError:
        module, _, owner = module.rpartition(".")
        holder = getattr(importlib.import_module(module), owner)
    assert float(limit["number"].replace(",", "")) * UNITS[limit["unit"]] == getattr(holder, name)
