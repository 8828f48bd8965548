"""What tools may import, loaded before the walls go up: behind them there is no file to load anything from."""

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
from types import ModuleType

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
datetime.datetime.strptime("2026", "%Y")  # the standard library loads what this needs when it is first used
