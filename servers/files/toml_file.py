"""TOML files that a user names. What would take Python's parser long, or much memory, is refused first."""

import re
import tomllib
from pathlib import Path
from typing import Any

from servers.files.named_file import text_named
from servers.files.trouble import trouble

LARGEST_TOML = 1024 * 1024
MOST_PARTS = 32
"""Parts of one key, `a.b.c`. The parser's time and memory grow with their square."""
STRING = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+(?:""")?'
    r"|'''(?:[^']|'(?!''))*+(?:''')?"
    r'|"(?:[^"\\\n]|\\.)*+"?'
    r"|'[^'\n]*+'?"
    r"|#[^\n]*+",
    re.DOTALL,
)
"""A string or a comment. One without an end reaches to the end, so no character is looked at twice."""
LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}")


class TomlError(Exception):
    """A text is no TOML, or too costly to parse. The message says why."""


def toml_named(path: Path) -> dict[str, Any]:
    """The content of a TOML file.

    Raises:
        OSError: it cannot be read, or has more than `LARGEST_TOML` bytes.
        TomlError: it is no TOML, has a key of more than `MOST_PARTS` parts, or is nested too deep.
    """
    try:
        text = text_named(path, largest=LARGEST_TOML)
        if LONG_KEY.search(STRING.sub("text", text)):
            raise TomlError(f"a key has at most {MOST_PARTS} parts")
        return tomllib.loads(text)
    except UnicodeDecodeError as error:
        raise TomlError(trouble(error)) from None
    except tomllib.TOMLDecodeError as error:
        raise TomlError(str(error)) from None
    except RecursionError:
        raise TomlError("its lists or tables are nested too deep") from None
