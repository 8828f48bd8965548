"""The one door to a terminal: what bundles, models, agents and endpoints say is shown and never obeyed.

Every command prints through a `Terminal`. It cleans what it draws, so no print, table or panel can forget to.
"""

import unicodedata
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.errors import MarkupError
from rich.segment import Segment
from rich.text import Text

KEPT = frozenset("\n\t")
OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's control and format characters, lone surrogates, and separators of lines: bidi overrides are among them."""


def clean(text: str) -> str:
    """A text in which nothing is obeyed by a terminal: each character of control stands there as its number."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(one if one in KEPT or unicodedata.category(one) not in OBEYED else _told(one) for one in text)


def _told(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"


class Terminal(Console):
    """A console that draws clean text, follows no link, and shows a text whose marks are wrong as it stands."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of what is drawn: only those of rich itself hold characters of control."""
        for segment in super().render(renderable, options):
            if segment.control:
                yield segment
            else:
                style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
                yield Segment(clean(segment.text), style)

    def render_str(self, text: str, **options: object) -> Text:  # pyright: ignore[reportIncompatibleMethodOverride]
        """A text with its marks, such as `[bold]`; one that only looks as if it had some is literal."""
        try:
            return super().render_str(text, **options)  # pyright: ignore[reportArgumentType]
        except MarkupError:
            return super().render_str(text, **{**options, "markup": False})  # pyright: ignore[reportArgumentType]
