"""Values as people read them: numbers, times, JSON, row changes. The filters of the templates."""

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup, escape
from pydantic import BaseModel

from servers.text.json_values import as_list, is_list, is_object
from servers.text.terminal import clean, obeyed_in
from servers.text.wording import counted

LONGEST_SHOWN = 20_000
"""The most characters of one text on a page."""
BRIEF = 140
WHOLE_IN_A_CELL = 28
"""Characters that a cell of a table shows without a cut, as wide as they may be."""
LONGEST_TITLE = 1000
KNOWN = ("id", "role", "question", "kind", "weight")
"""What a page shows of a checkpoint before how it asks."""
SIGNS = {"insert": "+", "update": "~", "delete": "−"}


def as_json(value: Any) -> str:
    """A value as JSON on one line."""
    return clean(json.dumps(value, ensure_ascii=False, default=str))


def pretty(text: str) -> str:
    """A text, indented if it is JSON, and cut if it is very long."""
    if text[:1] in ("{", "[") and len(text) < LONGEST_SHOWN:
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    return shown(text)


def shown(text: str) -> str:
    """A text without control characters, and cut if it is very long."""
    if len(text) > LONGEST_SHOWN:
        text = f"{text[:LONGEST_SHOWN]}… ({len(text) - LONGEST_SHOWN:,} more characters)"
    return clean(text)


def exact(value: Any) -> Markup:
    """A value that a form sends back. It is the same there, and no character of it is obeyed in the page's source."""
    text = str(escape(str(value)))
    return Markup(text.translate({ord(one): f"&#{ord(one)};" for one in obeyed_in(text)}))  # noqa: S704 - escaped


def brief(text: str) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(text[: 4 * BRIEF].split())
    return clean(line if len(line) <= BRIEF else f"{line[:BRIEF]}…") or "(nothing)"


def row_value(value: Any) -> Markup:
    """A value of a row. NULL is marked."""
    if value is None:
        return Markup('<span class="faint">null</span>')
    return escape(shown(value if isinstance(value, str) else json.dumps(value, default=str)))


def cell(value: Any) -> Markup:
    """A value in a narrow cell. One that may not fit is shown whole where it is reached, by mouse or keyboard."""
    told = row_value(value)
    text = told.unescape()
    if value is None or len(text) <= WHOLE_IN_A_CELL:
        return told
    return Markup('<span class="long" tabindex="0" title="{}">{}</span>').format(text[:LONGEST_TITLE], told)


def when(moment: datetime | float) -> Markup:
    """A moment, which a script of the page shows in the reader's time zone."""
    at = moment if isinstance(moment, datetime) else datetime.fromtimestamp(moment, UTC)
    at = at.astimezone(UTC)
    return Markup('<time datetime="{}">{}</time>').format(at.isoformat(), at.strftime("%Y-%m-%d %H:%M:%S UTC"))


def seconds(micros: float) -> str:
    """A duration in microseconds, in a unit that fits."""
    if micros < 1000:
        return f"{micros:.0f} µs"
    return f"{micros / 1000:.1f} ms" if micros < 1_000_000 else f"{micros / 1_000_000:.2f} s"


def kind_of(schema: Mapping[str, Any]) -> str:
    """The type in a JSON Schema, in words."""
    if "enum" in schema:
        return "one of " + ", ".join(map(as_json, schema["enum"][:12])) + (" …" if len(schema["enum"]) > 12 else "")
    for choice in ("anyOf", "oneOf"):
        if choice in schema:
            return " or ".join(kind_of(one) for one in as_list(schema[choice]) if is_object(one))
    kind = schema.get("type", "anything")
    items = schema.get("items")
    if kind == "array" and is_object(items):
        return f"list of {kind_of(items)}"
    return " or ".join(map(str, as_list(kind))) if is_list(kind) else str(kind)


def asks(checkpoint: BaseModel) -> str:
    """How a checkpoint asks: its SQL or Python, and its other settings."""
    told = checkpoint.model_dump(mode="json", exclude_defaults=True)
    texts = [told.pop(name) for name in ("sql", "python") if name in told]
    rest = {key: value for key, value in told.items() if key not in KNOWN}
    return shown(
        "\n\n".join([*texts, *(f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in rest.items())])
    )


def number(value: float) -> str:
    return f"{value:,}"


FILTERS: dict[str, Callable[..., Any]] = {
    "json": as_json,
    "pretty": pretty,
    "shown": shown,
    "brief": brief,
    "cell": cell,
    "value": row_value,
    "exact": exact,
    "when": when,
    "seconds": seconds,
    "kind_of": kind_of,
    "number": number,
    "asks": asks,
    "counted": counted,
    "sign": SIGNS.get,
}
