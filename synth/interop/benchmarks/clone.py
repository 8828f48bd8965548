"""A user's clone of a benchmark, read as text: files by path, and literals from Python files that are never run."""

import ast
import hashlib
import json
import re
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import Formatter
from typing import Any, NamedTuple, cast

from servers.errors import RequestError
from servers.files.named_file import names_found, text_found, text_named
from servers.files.trouble import trouble
from servers.gate.parser import NOT_PYTHON, parsed
from servers.limits.json_size import strict_json
from synth.interop.imports.dataset import ODD, trouble_words

LARGEST_FILE = 16 * 1024 * 1024
LARGEST_CLONE = 256 * 1024 * 1024
"""Characters of all files that are read of one clone."""
DEEPEST = 100
"""Levels of JSON. What walks over it needs a part of the stack for each."""
HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""Half of a character as JSON writes it. Two of them make one."""
HALF_ALONE = re.compile("[\ud800-\udfff]")
DIGITS = 12
"""Digits of a digest in a report."""
LONGEST_TEXT = 1024 * 1024
"""Characters of a text that is composed of parts, which may double with each."""


class NumberedRow(NamedTuple):
    """An object of a file with one in each line, and its number from 1."""

    number: int
    row: dict[str, Any]


class Clone:
    """A folder with a benchmark's files. It remembers what was read, so that a version can be told by content.

    No file is read through a link out of it, except where it is an installed package: installers put links there.
    """

    def __init__(self, root: Path, name: str, *, install: str = "", largest: int = LARGEST_CLONE) -> None:
        if not root.is_dir():
            raise RequestError(f"{root}: is no folder; give the folder of your clone of {name}")
        self.root = root
        self.name = name
        self._install = install
        self._largest = largest
        self._size = 0
        self._texts: dict[str, str] = {}

    def text(self, path: str) -> str:
        """The text of a file. Raises RequestError."""
        if path not in self._texts:
            text = self._read(path)
            if self._size + len(text) > self._largest:
                raise RequestError(f"{self.root}: its files are larger than {self._largest // 1024:,} KiB together")
            self._size += len(text)
            self._texts[path] = text
        return self._texts[path]

    def _read(self, path: str) -> str:
        whole = self.root / path
        try:
            if self._install:
                return text_named(whole, largest=LARGEST_FILE)
            return text_found(self.root, path, largest=LARGEST_FILE)
        except FileNotFoundError:
            raise RequestError(f"{whole}: is missing; is {self.root} a whole clone of {self.name}?") from None
        except UnicodeDecodeError:
            raise RequestError(f"{whole}: cannot be read: not UTF-8") from None
        except OSError as error:
            raise RequestError(f"{whole}: cannot be read: {trouble(error)}") from None

    def names(self, folder: str, suffix: str) -> list[str]:
        """The paths of the files in a folder, sorted. Raises RequestError."""
        try:
            return names_found(self.root, folder, (suffix,))
        except OSError as error:
            raise RequestError(f"{self.root / folder}: cannot be read: {trouble(error)}") from None

    def json(self, path: str) -> Any:
        """A JSON file. Raises RequestError."""
        try:
            return _whole_json(self.text(path))
        except ValueError as error:
            raise RequestError(f"{self.root / path}: is not JSON: {error}") from None

    def rows(self, path: str) -> list[dict[str, Any]]:
        """The objects of a file with one object in each line. Raises RequestError with file and row."""
        rows: list[dict[str, Any]] = []
        for number, line in enumerate(self.text(path).split("\n"), start=1):
            if not line.strip():
                continue
            try:
                row = _whole_json(line)
            except ValueError as error:
                raise RequestError(f"{self.root / path}: row {number}: is not JSON: {error}") from None
            if not isinstance(row, dict):
                raise RequestError(f"{self.root / path}: row {number}: is no object")
            rows.append(cast("dict[str, Any]", row))
        if not rows:
            raise self.trouble(path, "is empty")
        return rows

    def rows_by_id(self, path: str) -> dict[str, "NumberedRow"]:
        """The same, by `id`. Raises RequestError with file and row, also if two have the same."""
        found: dict[str, NumberedRow] = {}
        for number, row in enumerate(self.rows(path), start=1):
            with self.reading(path, f"row {number}"):
                name = str(row["id"])
                if name in found:
                    raise ValueError(f"has the id {name!r} of row {found[name].number}")
                found[name] = NumberedRow(number, row)
        return found

    def tree(self, path: str) -> ast.Module:
        """A Python file, parsed. Raises RequestError."""
        try:
            return parsed(self.text(path))
        except NOT_PYTHON as error:
            raise RequestError(f"{self.root / path}: is not Python: {error}") from None

    def trouble(self, path: str, what: str) -> RequestError:
        """An error that names a file."""
        return RequestError(f"{self.root / path}: {what}")

    @contextmanager
    def reading(self, path: str, place: str = "") -> Generator[None]:
        """A block that reads what somebody else's file holds.

        Raises:
            RequestError: it has another shape. The error names the file and the place in it.
        """
        try:
            yield
        except ODD as error:
            told = f"{place}: " if place else ""
            raise self.trouble(path, f"{told}{trouble_words(error)}") from None

    def digest(self, *paths: str) -> str:
        """The digest of some files, by default of all that were read."""
        digest = hashlib.sha256()
        for path in sorted(paths or self._texts):
            text = self.text(path).encode()
            digest.update(f"{path} {len(text)}\n".encode() + text)
        return digest.hexdigest()

    def version(self, known: dict[str, str], commit: str, *, any_version: bool) -> str:
        """The version that the files are. `known` are the digests of files of the version that we know, by part.

        Raises:
            RequestError: they are another version, and only a known one is wanted.
        """
        digest = self.digest()
        if digest in known:
            return known[digest]
        if not any_version:
            how = f"install that version (`{self._install}`)" if self._install else "check that version out"
            raise RequestError(
                f"{self.root}: is not {self.name} at {commit}, for which the scores were compared (its files have the"
                f" digest {digest[:DIGITS]}); {how}, or import this one with --any-version"
            )
        return f"unknown, digest {digest[:DIGITS]}"


def _whole_json(text: str) -> Any:
    """JSON whose texts can be written again. Raises ValueError."""
    found = strict_json(text, deepest=DEEPEST)
    if HALF.search(text) and HALF_ALONE.search(json.dumps(found, ensure_ascii=False)):
        raise ValueError("a text holds half of a character, which no file can have")
    return found


def literal(node: ast.expr) -> Any:
    """The value of a literal, with calls of classes as dicts of their keywords. Raises errors of `ODD`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.args:
        return {one.arg: literal(one.value) for one in node.keywords if one.arg is not None}
    if isinstance(node, ast.List):
        return [literal(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        keys = [None if key is None else literal(key) for key in node.keys]
        return dict(zip(keys, map(literal, node.values), strict=True))
    return ast.literal_eval(node)


def assigned(tree: ast.Module, name: str) -> ast.expr | None:
    """The expression that a module gives a name."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            return node.value
    return None


def method(tree: ast.Module, kind: str, name: str) -> ast.FunctionDef | None:
    """A method of a class of a module."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == kind:
            return next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name), None)
    return None


def composed(node: ast.expr, names: Mapping[str, str]) -> str:
    """The text of an expression of literals and names: a sum, an f-string, or a choice, whose first branch counts.

    Raises:
        ValueError: it is made in another way, or is too long.
        RecursionError: it is nested too deep.
    """
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _joined(composed(one, names) for one in (left, right))
        case ast.JoinedStr(values=parts):
            return _joined(composed(one, names) for one in parts)
        case ast.FormattedValue(value=inner):
            return composed(inner, names)
        case ast.IfExp(body=body):
            return composed(body, names)
        case _:
            raise ValueError(f"line {node.lineno}: cannot be read as a text: {ast.unparse(node)[:60]}")


def filled(template: str, **values: str) -> str:
    """What `template.format` gives for plain fields. Others, and widths, can take any memory.

    Raises:
        ValueError: it has another field, or would be too long.
    """

    def parts() -> Generator[str]:
        for text, name, width, conversion in Formatter().parse(template):
            yield text
            if name is not None and (name not in values or width or conversion):
                raise ValueError(f"a prompt has a field that is not plain: {name[:60]!r}")
            yield "" if name is None else values[name]

    return _joined(parts())


def _joined(parts: Iterable[str]) -> str:
    found: list[str] = []
    length = 0
    for one in parts:
        length += len(one)
        if length > LONGEST_TEXT:
            raise ValueError(f"a text of more than {LONGEST_TEXT // 1024} KiB is composed")
        found.append(one)
    return "".join(found)


def texts_of(node: ast.AST, role: str) -> list[str]:
    """The contents of the messages of a role that are written out below a node."""
    found: list[str] = []
    for one in ast.walk(node):
        if not isinstance(one, ast.Dict):
            continue
        pairs = {
            key.value: value for key, value in zip(one.keys, one.values, strict=True) if isinstance(key, ast.Constant)
        }
        said, content = pairs.get("role"), pairs.get("content")
        if isinstance(said, ast.Constant) and said.value == role and isinstance(content, ast.Constant):
            found.append(str(content.value))
    return found
