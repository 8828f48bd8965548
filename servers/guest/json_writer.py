"""JSON written in one step: Python's own encoder makes a new writer for each text, which takes longer than the text."""

from collections.abc import Callable
from json import encoder
from typing import Any


class JsonWriter:
    """Writes values as `json.dumps` does with the same options."""

    def __init__(self, *, ensure_ascii: bool = True, allow_nan: bool = True, separators: tuple[str, str]) -> None:
        self._plain = encoder.JSONEncoder(ensure_ascii=ensure_ascii, allow_nan=allow_nan, separators=separators)
        quote: Callable[[str], str] = (
            encoder.encode_basestring_ascii if ensure_ascii else encoder.encode_basestring  # pyright: ignore
        )
        between, after_key = separators
        self._pieces: Callable[[Any, int], tuple[str, ...]] = encoder.c_make_encoder(  # pyright: ignore
            None, self._plain.default, quote, None, after_key, between, False, False, allow_nan
        )

    def text(self, value: Any) -> str:
        """A value as JSON.

        Raises:
            TypeError, ValueError, RecursionError: JSON has no such value.
        """
        try:
            return "".join(self._pieces(value, 0))
        except RecursionError:
            return self._plain.encode(value)  # it says whether the value holds itself, for which it looks at each step
