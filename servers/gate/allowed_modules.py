"""The modules that tools may import. They are loaded before the walls go up, as no file can be read behind them.

Those that only code from elsewhere may import are loaded before the first guest of such code: they take longer.
"""

import bisect
import calendar
import collections
import collections.abc
import copy
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import heapq
import itertools
import json
import math
import operator
import re
import statistics
import string
import textwrap
import typing
import unicodedata
from collections.abc import Callable, Sized
from types import MappingProxyType, ModuleType
from typing import Any

from servers import toolkit

MODULES: tuple[ModuleType, ...] = (
    bisect,
    calendar,
    collections,
    collections.abc,
    copy,
    dataclasses,
    datetime,
    decimal,
    enum,
    fractions,
    functools,
    heapq,
    itertools,
    json,
    math,
    operator,
    re,
    statistics,
    string,
    textwrap,
    toolkit,
    typing,
    unicodedata,
)
"""The modules that a bundle's tools.py and a Python checkpoint may import."""

NAMES = frozenset(module.__name__ for module in MODULES)
IMPORTED = frozenset(
    {
        "__future__",
        "abc",
        "ast",
        "base64",
        "contextlib",
        "difflib",
        "fnmatch",
        "hashlib",
        "html",
        "ipaddress",
        "logging",
        "numbers",
        "pprint",
        "random",
        "shlex",
        "traceback",
        "types",
        "urllib.parse",
        "warnings",
        "servers.imported.datetime",
        "servers.imported.secrets",
        "servers.imported.time",
        "servers.imported.uuid",
        "servers.imported.judging",
        "servers.imported.audit.probing",
        "servers.imported.running",
        "servers.imported.benchmarks.acebench",
        "servers.imported.awm.serving",
        "servers.imported.awm.sqlite3",
        "servers.imported.benchmarks.bfcl",
        "servers.imported.benchmarks.tau_bench",
    }
)
"""Modules that code from elsewhere may import too. Clock and randomness are the call's."""
IMPORTED_NAMES = NAMES | IMPORTED | {"servers.imported.moment.hash"}
FRAMEWORK = "servers.imported.framework.application"
"""The module with FastAPI and SQLAlchemy. Imported endpoints need it."""
datetime.datetime.strptime("2026", "%Y")  # the standard library loads what this needs when it is first used

FIXED: dict[type, Callable[[Any], Sized]] = {list: tuple, dict: MappingProxyType, set: frozenset}
"""Mutable containers, and their immutable equivalents."""


def fix_shared_containers() -> None:
    """Make shared containers on classes of these modules immutable: all instances of a guest share them."""
    for module in MODULES:
        for shared in [value for value in vars(module).values() if isinstance(value, type)]:
            for name, held in list(vars(shared).items()):
                if type(held) in FIXED and not name.startswith("_"):
                    setattr(shared, name, FIXED[type(held)](held))
