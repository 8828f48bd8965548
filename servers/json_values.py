"""How many values a text of JSON holds, found before they are validated: each one takes time."""

from servers.errors import BundleError

MOST_VALUES = 10_000
"""Values of one JSON text of a bundle: `environment.json`, or one line of `scenarios.jsonl`."""


def refuse_many_values(where: str, text: str) -> None:
    """Refuse a text of JSON with more values than anybody writes. What a string holds does not count.

    Raises:
        BundleError: there are more; `where` begins its text.
    """
    if _marks(text) > MOST_VALUES and values_in(text) > MOST_VALUES:
        raise BundleError(f"{where}: holds more than {MOST_VALUES:,} values")


def values_in(text: str) -> int:
    """How many values there are, at most. Each step takes time that grows with the text and no further."""
    between = "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
    return 1 + _marks(between)


def has_more_values(body: bytes, most: int) -> bool:
    """Whether a body of JSON holds more values than `most`. JSON is read in one step, which nothing can interrupt."""
    if body.count(b",") + body.count(b"[") + body.count(b"{") <= most:
        return False
    return values_in(body.decode("latin-1")) > most


def _marks(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")
