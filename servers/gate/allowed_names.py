"""The names that `tools.py` and Python checkpoints may use: built-ins, members of modules, attributes, classes."""

from types import ModuleType

from servers.gate.allowed_modules import MODULES

# fmt: off
BUILTINS = frozenset({
    "ArithmeticError", "AssertionError", "AttributeError", "Exception", "False", "IndexError", "KeyError",
    "LookupError", "NotImplementedError", "None", "OverflowError", "RuntimeError", "StopIteration", "True",
    "TypeError", "UnicodeError", "ValueError", "ZeroDivisionError", "abs", "all", "any", "ascii", "bin", "bool",
    "bytearray", "bytes", "callable", "chr", "classmethod", "complex", "dict", "divmod", "enumerate", "filter",
    "float", "format", "frozenset", "hex", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max",
    "min", "next", "oct", "ord", "pow", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted",
    "staticmethod", "str", "sum", "tuple", "type", "zip",
})
"""Allowed built-ins. `type` only where the type of a value is compared: a class in hand could lead to `type` itself."""

FRAMES = frozenset({
    "ag_code", "ag_frame", "cr_code", "cr_frame", "f_back", "f_builtins", "f_code", "f_globals", "f_locals",
    "gi_code", "gi_frame", "gi_yieldfrom", "mro", "tb_frame", "tb_next", "with_traceback",
})
"""Attributes that lead from a value into the interpreter."""

MUTATING = frozenset({
    "add", "append", "appendleft", "clear", "difference_update", "discard", "extend", "extendleft", "insert",
    "intersection_update", "move_to_end", "pop", "popitem", "popleft", "remove", "reverse", "rotate", "setdefault",
    "sort", "subtract", "symmetric_difference_update", "update",
})
"""Methods that change their object."""

IN_PLACE = (
    "setitem", "delitem", "iadd", "iand", "iconcat", "ifloordiv", "ilshift", "imatmul", "imod", "imul", "ior", "ipow",
    "irshift", "isub", "ixor", "itruediv",
)
# fmt: on

CLOCKS = frozenset({"now", "utcnow", "today", "fromtimestamp"})
UNDERSCORED = frozenset({"_replace", "_asdict", "_fields"})
"""Public attributes with an underscore: those of a NamedTuple."""

CLOCK = "the wall clock: ask db.now(), so that a run can be repeated"
STATE = "it keeps state beyond a call: keep it in the database"
INSTEAD = {
    "open": "there are no files: keep it in the database",
    "print": "nobody reads it: put it into the result",
    "input": "nobody answers it: take an argument",
    "getattr": "write the attribute, or take a key of a dict",
    "setattr": "build a new dict instead",
    "delattr": "build a new dict instead",
    "hasattr": "ask isinstance(...), or `key in value`",
    "id": "it differs between runs: take ids from db.new_id(...)",
    "hash": "it differs between versions: compare the values themselves",
    "object": "it shows an address that differs between runs: use None",
    "BaseException": "catch Exception",
}
"""Advice in place of some other built-in names."""


def _each(instead: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, instead)


MEMBERS_REFUSED: dict[str, dict[str, str]] = {
    "calendar": _each(STATE, "setfirstweekday", "LocaleTextCalendar", "LocaleHTMLCalendar"),
    "dataclasses": {"make_dataclass": "write the class"},
    "decimal": _each(
        "it keeps state beyond a call: use localcontext(...)",
        "getcontext",
        "setcontext",
        "DefaultContext",
        "BasicContext",
        "ExtendedContext",
    ),
    "enum": {
        "global_enum": "write the members' names in full",
        **_each("it makes classes: write the class", "EnumDict", "EnumMeta", "EnumType"),
    },
    "functools": {
        **_each(STATE, "cache", "lru_cache", "cached_property", "singledispatch", "singledispatchmethod"),
        **_each("it changes a function: call the function instead", "wraps", "update_wrapper"),
        "total_ordering": "it changes a class: write the methods",
    },
    "operator": {
        **_each("write a lambda", "attrgetter", "methodcaller", "call"),
        **_each("build a new value", *IN_PLACE),
    },
    "statistics": {"NormalDist": "it draws random numbers: take what is needed from the database"},
    "string": {"Formatter": "it reaches into values: use an f-string"},
    "typing": {
        **_each("it evaluates text: write the types themselves", "get_type_hints", "ForwardRef"),
        **_each("types are kept beyond a call, and 1 is kept for True", "get_args", "get_origin"),
        **_each(STATE, "overload", "get_overloads", "clear_overloads"),
        **_each(
            "it changes what it marks: leave it out",
            "final",
            "no_type_check",
            "no_type_check_decorator",
            "runtime_checkable",
            "dataclass_transform",
        ),
        **_each(
            "types are kept beyond a call: write the types themselves",
            "AnyStr",
            "Generic",
            "ParamSpec",
            "Protocol",
            "TypeVar",
            "TypeVarTuple",
        ),
    },
}
"""Members of allowed modules that are refused, with advice."""

TYPES_AS_VALUES = MEMBERS_REFUSED["typing"].keys() | {
    "Any",
    "NamedTuple",
    "Never",
    "NewType",
    "TYPE_CHECKING",
    "TypedDict",
    "assert_never",
    "assert_type",
    "cast",
    "is_typeddict",
}
"""Names of `typing` that may be used anywhere, or nowhere.

The others make types that outlive a call. They are allowed in annotations, and in `Name[…]` outside functions, where no
call's values are.
"""

KINDS_OF_CLASS = frozenset(
    {"typing.TypedDict", "typing.NamedTuple", "enum.Enum", "enum.StrEnum", "enum.IntEnum", "enum.Flag", "enum.IntFlag"}
)
ON_METHODS = frozenset({"property", "staticmethod", "classmethod"})
OF_DATACLASSES = frozenset({"frozen", "order", "slots", "kw_only"})


def _members(module: ModuleType) -> frozenset[str]:
    """A module's public names, without the modules that it imports itself."""
    names: list[str] = getattr(module, "__all__", None) or [name for name in vars(module) if not name.startswith("_")]
    return frozenset(name for name in names if not isinstance(getattr(module, name, None), ModuleType))


MEMBERS = {module.__name__: _members(module) for module in MODULES}
"""The allowed names of each module."""
