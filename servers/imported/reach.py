"""Which attributes of its object a method can reach, found from its code and that of what it may call.

It is told for methods that use their object by its attributes alone. Of one that hands its object on, nothing is known.
"""

import dis
from collections.abc import Iterable, Iterator
from itertools import pairwise
from types import CodeType, FunctionType
from typing import Any, cast

ON_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD", "STORE_ATTR", "DELETE_ATTR"})
LOADS = ("LOAD_FAST", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME", "LOAD_FROM_DICT_OR", "STORE_FAST_LOAD_FAST")
"""How codes that load a variable begin. From Python 3.13 on some load two of them."""
ANNOTATE = "__annotate_func__"
"""What makes the annotations of a class, from Python 3.14 on. No call comes to it."""
TELLING = frozenset({"eval", "exec", "globals", "locals", "super"})
"""Names by which code comes to what it does not name."""

_known: dict[CodeType, frozenset[str] | None] = {}
"""A guest runs one environment, so a method's code is always that of the same class."""


def reached(kind: type[Any], classes: Iterable[type[Any]], method: str) -> frozenset[str] | None:
    """The names of all attributes that a method may read or set. None if it may be any."""
    function = vars(kind).get(method)
    if not isinstance(function, FunctionType):
        return None
    code = function.__code__
    if code not in _known:
        _known[code] = _names(function, [*classes, kind])
    return _known[code]


def _names(function: FunctionType, classes: list[type[Any]]) -> frozenset[str] | None:
    found: dict[str, list[FunctionType]] = {}
    for one in classes:
        for name, part in vars(one).items():
            functions = _functions(part)
            found.setdefault(name, []).extend(functions)
            found.setdefault(one.__name__, []).extend(functions)
    waiting = [function, *(one for name, held in found.items() if _is_special(name) for one in held)]
    seen: set[CodeType] = set()
    names: set[str] = set()
    while waiting:
        one = waiting.pop()
        if one.__code__ in seen:
            continue
        for code in all_codes(one.__code__):
            seen.add(code)
            if _hands_on(code, one.__code__) or any(map(_is_special, code.co_names)) or TELLING & {*code.co_names}:
                return None
            for name in code.co_names:
                names.add(name)
                waiting += found.get(name, [])
                held = one.__globals__.get(name)
                if isinstance(held, FunctionType):
                    waiting.append(held)
    return frozenset(names)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name not in ("__init__", ANNOTATE)


def _functions(part: object) -> list[FunctionType]:
    """The functions of one member of a class."""
    if isinstance(part, (staticmethod, classmethod)):
        part = cast("Any", part).__func__
    parts = (part.fget, part.fset, part.fdel) if isinstance(part, property) else (part,)
    return [one for one in parts if isinstance(one, FunctionType)]


def all_codes(code: CodeType) -> Iterator[CodeType]:
    """A code, and those within it."""
    yield code
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from all_codes(part)


def _hands_on(code: CodeType, outer: CodeType) -> bool:
    """True if the first parameter of a function is used in another way than by its attributes."""
    if not outer.co_argcount:
        return False
    own = outer.co_varnames[0]
    for step, after in pairwise(dis.get_instructions(code)):
        if step.opname.startswith(LOADS):
            loaded: Any = step.argval
            *others, last = cast("tuple[str, ...]", loaded if isinstance(loaded, tuple) else (loaded,))
            if own in others or (last == own and after.opname not in ON_ATTRIBUTES):
                return True
    return False
