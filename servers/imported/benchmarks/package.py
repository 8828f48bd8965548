"""Modules from texts: a benchmark's own files, unmodified, executed anew for each call.

A guest can read no file, so the files are rows of the table `upstream`. What a call leaves in a module ends with it.
"""

import builtins
import hashlib
import marshal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import lru_cache
from types import CodeType, ModuleType
from typing import Any

from servers.toolkit import Database

MOST_COMPILED = 256
NOT_PYTHON = (SyntaxError, ValueError, RecursionError, MemoryError)
"""The compiler's errors for a text."""


class Upstream:
    """The modules of a benchmark's files. `stubs` are modules that stand in for packages that guests do not have."""

    def __init__(self, db: Database, stubs: Mapping[str, ModuleType] | None = None) -> None:
        self._db = db
        self._names = {row["path"] for row in db.all("SELECT path FROM upstream")}
        self._modules: dict[str, ModuleType] = dict(stubs or {})
        self._builtins = {**vars(builtins), "__import__": self._import}

    def module(self, name: str) -> ModuleType:
        """A module by its full name. Raises ImportError if it is not among the files."""
        if name in self._modules:
            return self._modules[name]
        parent, _, own = name.rpartition(".")
        around = self.module(parent) if parent else None
        if name in self._modules:  # its package imported it
            return self._modules[name]
        path = self._path(name)
        if path is None:
            raise ImportError(f"no module named {name!r} among the benchmark's files")
        module = ModuleType(name)
        vars(module)["__builtins__"] = self._builtins
        vars(module)["__package__"] = name if not path or path.endswith("/__init__.py") else parent
        vars(module)["__path__"] = []
        self._modules[name] = module
        if path:
            exec(_compiled(path, self.text(path)), vars(module))  # noqa: S102 - a guest exists to run it
        if around is not None:
            setattr(around, own, module)
        return module

    def add(self, name: str, module: ModuleType) -> None:
        """Let a module stand in for a package."""
        self._modules[name] = module

    def text(self, path: str) -> str:
        """The text of a file. Raises ImportError."""
        row = self._db.one("SELECT text FROM upstream WHERE path = :path", path=path)
        if row is None:
            raise ImportError(f"no file {path!r} among the benchmark's files")
        return row["text"]

    def _path(self, name: str) -> str | None:
        """The file of a module. Empty for a folder without a file of its own, None if there is no such module."""
        path = name.replace(".", "/")
        for one in (f"{path}.py", f"{path}/__init__.py"):
            if one in self._names:
                return one
        return "" if any(one.startswith(f"{path}/") for one in self._names) else None

    def _import(
        self,
        name: str,
        names: Mapping[str, Any] | None = None,
        _locals: object = None,
        fromlist: tuple[str, ...] | None = (),
        level: int = 0,
    ) -> Any:
        """The statement `import` of the files: theirs first, then what every guest has."""
        whole = _absolute(name, (names or {}).get("__package__", ""), level)
        top = whole.partition(".")[0]
        if whole not in self._modules and self._path(whole) is None:
            return builtins.__import__(name, None, None, fromlist or (), 0)
        module = self.module(whole)
        for one in fromlist or ():
            inner = f"{whole}.{one}"
            if not hasattr(module, one) and self._path(inner) is not None:
                setattr(module, one, self.module(inner))
        return module if fromlist else self._modules.get(top) or self.module(top)


def stub(name: str, **values: Any) -> ModuleType:
    """A module that stands in for a package that guests do not have."""
    module = ModuleType(name)
    vars(module).update(values)
    return module


def import_module(upstream: Upstream) -> Callable[[str], ModuleType]:
    """What `importlib.import_module` does among a benchmark's files."""

    def imported(name: str, _package: str | None = None) -> ModuleType:
        try:
            return upstream.module(name)
        except ImportError:
            if name in sys.modules:
                return sys.modules[name]
            raise

    return imported


def _absolute(name: str, package: str, level: int) -> str:
    if not level:
        return name
    parts = package.split(".")
    around = ".".join(parts[: len(parts) - level + 1])
    return f"{around}.{name}" if name else around


def code_of(db: Database) -> bytes:
    """The code of all files that can be compiled, for `take` of another guest with the same Python."""
    found: dict[str, tuple[str, CodeType]] = {}
    for row in db.all("SELECT path, text FROM upstream"):
        path, text = str(row["path"]), str(row["text"])
        with suppress(*NOT_PYTHON):
            found[path] = _digest(text), compile(text, path, "exec")
    return marshal.dumps(found)


def take(code: bytes = b"") -> None:
    """Use code that another guest made of files. It stands for the texts alone that it was made of."""
    if code:
        _taken.update(marshal.loads(code))  # noqa: S302 - it was made behind the same walls


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@lru_cache(MOST_COMPILED)
def _compiled(path: str, text: str) -> CodeType:
    digest, code = _taken.get(path, ("", None))
    return code if code is not None and digest == _digest(text) else compile(text, path, "exec")


_taken: dict[str, tuple[str, CodeType]] = {}
