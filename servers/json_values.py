"""How many values a text of JSON holds, found before it is validated: what is wrong with each of them takes time."""

from servers.errors import BundleError

MOST_VALUES = 10_000
"""Values of one JSON text of a bundle: `environment.json`, or one line of `scenarios.jsonl`."""


def refuse_many_values(where: str, text: str) -> None:
    """Refuse a text of JSON with more values than anybody writes. What a string holds does not count.

    Raises:
        BundleError: there are more; `where` begins its text.
    """
    if _values(text) > MOST_VALUES and _values(_without_strings(text)) > MOST_VALUES:
        raise BundleError(f"{where}: holds more than {MOST_VALUES:,} values")


def _values(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _without_strings(text: str) -> str:
    """What stands between the strings. Each step takes time that grows with the text and no further."""
    return "".join(text.replace("\\\\", "").replace('\\"', "").split('"')[::2])
