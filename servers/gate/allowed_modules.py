"""What tools may import, loaded before the walls go up: behind them there is no file to load anything from."""

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

from servers import toolkit
from servers.imported import datetime as frozen_datetime
from servers.imported import judging as imported_judging
from servers.imported import probing as imported_probing
from servers.imported import running as imported_running
from servers.imported import secrets as frozen_secrets
from servers.imported import time as frozen_time
from servers.imported import uuid as frozen_uuid

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
    frozen_datetime,
    frozen_secrets,
    frozen_time,
    frozen_uuid,
    imported_judging,
    imported_probing,
    imported_running,
)
"""What code that came from elsewhere may import beside them. Its clock and its chances are the call's."""

NAMES = frozenset(module.__name__ for module in MODULES)
IMPORTED_NAMES = NAMES | {module.__name__ for module in IMPORTED}
datetime.datetime.strptime("2026", "%Y")  # the standard library loads what this needs when it is first used

FIXED: dict[type, Callable[[Any], Sized]] = {list: tuple, dict: MappingProxyType, set: frozenset}
"""Containers that can be changed, and what holds the same and cannot."""


def fix_shared_containers() -> None:
    """Make what hangs on classes of these modules unchangeable: all instances of a guest share it."""
    for module in MODULES:
        for shared in [value for value in vars(module).values() if isinstance(value, type)]:
            for name, held in list(vars(shared).items()):
                if type(held) in FIXED and not name.startswith("_"):
                    setattr(shared, name, FIXED[type(held)](held))
