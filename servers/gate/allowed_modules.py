"""The modules that tools may import. They are loaded before the walls go up, as no file can be read behind them."""

import __future__

import abc
import ast
import base64
import bisect
import calendar
import collections
import collections.abc
import contextlib
import copy
import dataclasses
import datetime
import decimal
import difflib
import enum
import fnmatch
import fractions
import functools
import hashlib
import heapq
import html
import ipaddress
import itertools
import json
import logging
import math
import numbers
import operator
import pprint
import random
import re
import shlex
import statistics
import string
import textwrap
import traceback
import types
import typing
import unicodedata
import urllib.parse
import warnings
from collections.abc import Callable, Sized
from types import MappingProxyType, ModuleType
from typing import Any

import servers.imported.audit.probing
import servers.imported.awm.serving
import servers.imported.awm.sqlite3
import servers.imported.datetime
import servers.imported.judging
import servers.imported.running
import servers.imported.secrets
import servers.imported.time
import servers.imported.uuid
from servers import toolkit
from servers.imported.benchmarks import acebench, bfcl, tau_bench

with contextlib.suppress(ImportError):  # the code of BFCL needs it, and who imports BFCL has installed it
    import mpmath  # noqa: F401  # pyright: ignore[reportUnusedImport]

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

IMPORTED: tuple[ModuleType, ...] = (
    __future__,
    abc,
    ast,
    base64,
    contextlib,
    difflib,
    fnmatch,
    hashlib,
    html,
    ipaddress,
    logging,
    numbers,
    pprint,
    random,
    shlex,
    traceback,
    types,
    urllib.parse,
    warnings,
    servers.imported.datetime,
    servers.imported.secrets,
    servers.imported.time,
    servers.imported.uuid,
    servers.imported.judging,
    servers.imported.audit.probing,
    servers.imported.running,
    acebench,
    servers.imported.awm.serving,
    servers.imported.awm.sqlite3,
    bfcl,
    tau_bench,
)
"""Modules that code from elsewhere may import too. Clock and randomness are the call's."""

NAMES = frozenset(module.__name__ for module in MODULES)
IMPORTED_NAMES = NAMES | {module.__name__ for module in IMPORTED} | {"servers.imported.moment.hash"}
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
