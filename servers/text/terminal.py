"""The only way to the terminal: text of bundles, models, agents and endpoints is shown and never interpreted.

Every command prints through a `Terminal`. It cleans its output and reads no markup such as `[bold]`, so no print, table
or panel can forget to. Our own markup is `marked`. `tests/test_terminals.py` forbids any other way.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable
from typing import Any

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live_render import LiveRender
from rich.markup import escape
from rich.padding import Padding
from rich.panel import Panel
from rich.segment import Segment
from rich.table import Column, Table
from rich.text import Text

from servers.files.trouble import trouble

KEPT = frozenset("\n\t")
OBEYED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode's control and format characters (bidi overrides among them), lone surrogates, and line separators."""
GAP = 3
"""Columns between two of a table."""
LEAST_TEXT = 12
"""The least useful width of a text column."""
LONGEST_RULE = 80
"""The width of the line below a table's head without a terminal, as texts have any length there."""
UNCUT = 1_000_000
"""Columns of a table without a terminal: a file or another program gets whole ids and texts."""
SIDE_BY_SIDE = 120
"""Columns of a table that fills its width, without a terminal. `COLUMNS` says otherwise."""
UNKNOWN = 80
"""Columns that rich supposes where neither a terminal nor `COLUMNS` says how many there are."""


def clean(text: str) -> str:
    """A text without control characters: each is replaced by its number."""
    if text.isascii() and text.isprintable():
        return text
    obeyed = obeyed_in(text)
    return text.translate({ord(one): _told(one) for one in obeyed}) if obeyed else text


def obeyed_in(text: str) -> set[str]:
    """The characters of a text that a terminal or a browser would obey."""
    return {one for one in set(text) - KEPT if unicodedata.category(one) in OBEYED}


def _told(character: str) -> str:
    return f"\\x{ord(character):02x}" if ord(character) < 256 else f"\\u{ord(character):04x}"


class Listing:
    """A table with a line for each item: name, figures, and last a description, which may be cut.

    On a narrow terminal the descriptions are left out. If names and figures do not fit either, each item takes some
    lines.
    """

    def __init__(self, *heads: str) -> None:
        self._heads = heads
        self._rows: list[tuple[str, ...]] = []
        self._whole = False

    def add(self, *cells: str, whole: bool = False) -> None:
        """Add an item. Its last cell is cut at the terminal's width, unless `whole` is set."""
        self._rows.append(cells)
        self._whole = self._whole or whole

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        *fixed, text = [max(map(cell_len, column)) for column in zip(self._heads, *self._rows, strict=True)]
        room = options.max_width - sum(fixed) - GAP * len(fixed)
        if not console.is_terminal or room >= min(text, LEAST_TEXT):
            yield self._table()
        elif room >= 0:
            yield self._table(with_text=False)
        else:
            yield from self._blocks()

    def _table(self, *, with_text: bool = True) -> Table:
        *fixed, last = self._heads
        columns = [Column(head, no_wrap=True) for head in fixed]
        table = Table(*columns, *([last] if with_text else []), box=box.SIMPLE_HEAD, pad_edge=False)
        for *cells, text in self._rows:
            table.add_row(*cells, *([self._text(text)] if with_text else []))
        return table

    def _blocks(self) -> Iterable[RenderableType]:
        _, *heads, _ = self._heads
        for name, *cells, text in self._rows:
            yield Text(name, style="bold", overflow="fold")
            yield Text("  " + ", ".join(f"{head} {cell}" for head, cell in zip(heads, cells, strict=True)))
            yield Padding(self._text(text), (0, 0, 0, 2))

    def _text(self, text: str) -> Text:
        return Text(text) if self._whole else in_one_line(text)


def hints(first: str, *commands: tuple[str, str]) -> str:
    """A line, and below it commands with their descriptions."""
    width = max(len(command) for command, _ in commands)
    return "\n".join([first, *(f"  {command:{width}}  {what}" for command, what in commands)])


class Terminal(Console):
    """A console that prints clean text literally, without links.

    Without a terminal (a file, a pipe), tables are neither cut nor padded, and panels have no frame. A table that
    fills its width has 120 columns there.
    """

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, markup=False, highlight=False, emoji=False)
        self._is_filling = False

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """The segments of the output. Only rich's own may hold control characters."""
        if isinstance(renderable, LiveRender) and not self.is_terminal:
            renderable = renderable.renderable  # what is drawn live is drawn once here
        if isinstance(renderable, Panel) and not self.is_terminal:
            renderable = _unframed(renderable)
        if isinstance(renderable, Table) and renderable.expand and not (self.is_terminal or self._is_filling):
            drawn: Iterable[Segment] = self._filled(renderable, options or self.options)
        else:
            if isinstance(renderable, Table | Group) and not (self.is_terminal or self._is_filling):
                options = (options or self.options).update(width=UNCUT)
            drawn = super().render(renderable, options)
        if isinstance(renderable, Table) and not self.is_terminal:
            drawn = _unfilled(drawn)
        for segment in drawn:
            if segment.control:
                yield segment
            else:
                style = segment.style.update_link(None) if segment.style and segment.style.link else segment.style
                yield Segment(clean(segment.text), style)

    def _filled(self, table: Table, options: ConsoleOptions) -> list[Segment]:
        """A table that fills its width, with all that is in its cells, without a terminal."""
        width = SIDE_BY_SIDE if self.width == UNKNOWN else self.width
        self._is_filling = True
        try:
            return list(super().render(table, options.update(width=width)))
        finally:
            self._is_filling = False

    def print(self, *objects: Any, crop: bool = True, soft_wrap: bool | None = None, **options: Any) -> None:
        """Print. Lines are broken or cut only on a terminal.

        Raises:
            SystemExit: nobody reads the output any more, or it takes no more, as on a full disk. The latter is told.
        """
        if soft_wrap is None and not self.is_terminal:
            soft_wrap = all(isinstance(one, str | Text) for one in objects)
        try:
            super().print(*objects, crop=crop and self.is_terminal, soft_wrap=soft_wrap, **options)
        except BrokenPipeError:  # the reader has seen enough
            raise
        except OSError as error:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.file.fileno())  # else Python fails once more at its end
            sys.stderr.write(f"farm: the output cannot be written: {trouble(error)}\n")
            raise SystemExit(1) from None

    def print_data(self, data: object) -> None:
        """Print JSON unchanged, in lines of any length."""
        text = json.dumps(data, indent=2, ensure_ascii=False)
        if clean(text) != text or not self.encoding.startswith("utf"):
            text = json.dumps(data, indent=2)  # in which characters are written as numbers
        self.print(text, markup=False, soft_wrap=True)


def _unframed(panel: Panel) -> Group:
    """The content of a panel, below its title."""
    return Group(*(part for part in (panel.title, panel.renderable, panel.subtitle) if part))


def _unfilled(drawn: Iterable[Segment]) -> Iterable[Segment]:
    """Lines without trailing blanks."""
    for whole in Segment.split_lines(drawn):
        is_rule = not "".join(segment.text for segment in whole).strip(" ─")
        line = Segment.adjust_line_length(whole, LONGEST_RULE, pad=False) if is_rule else whole
        while line and not line[-1].text.strip():
            line.pop()
        if line:
            line[-1] = Segment(line[-1].text.rstrip(), line[-1].style, line[-1].control)
        yield from line
        yield Segment.line()


def marked(text: str, *values: object) -> Text:
    """A text with our own markup, such as `[red]`. Each `{}` is a literal value."""
    return Text.from_markup(text.format(*(escape(str(value)) for value in values)), emoji=False)


def in_one_line(text: str) -> Text:
    """A text in one line, cut at the terminal's width."""
    return Text(" ".join(text.split()), no_wrap=True, overflow="ellipsis")
