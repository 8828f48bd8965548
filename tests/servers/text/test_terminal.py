"""What strangers say reaches a terminal as text: nothing of it is obeyed, and none of it breaks a command."""

import io
import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Group
from rich.live import Live
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from evals.runs.progress import RolloutCounts, SuiteProgress
from servers.text.terminal import KEPT, OBEYED, Listing, Terminal, clean, hints, marked

HOSTILE = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\",
    "[/]",
    "[link=http://evil]here[/link]",
    "[/nothing][bold",
    "\u202egnp.exe",
    "\x9b2J",
    "a\x00b\rc\x08",
    "\ud800",
    "x" * 100_000,
]


@given(st.text(st.characters()))
def test_a_clean_text_has_no_character_of_control(text: str) -> None:
    cleaned = clean(text)
    assert all(one in KEPT or unicodedata.category(one) not in OBEYED for one in cleaned)
    assert clean(cleaned) == cleaned
    cleaned.encode()


@pytest.mark.parametrize("hostile", HOSTILE)
def test_nothing_that_is_drawn_is_obeyed(hostile: str) -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    table = Table("one", hostile)
    table.add_row(hostile, "two")
    terminal.print(hostile)
    terminal.print(hostile, markup=False, soft_wrap=True)
    terminal.print(table, Panel(hostile), marked("[red]{}[/]", hostile))
    drawn = terminal.file.getvalue()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", drawn)


MARKS = [
    "[bold]x[/bold]",
    "[/]",
    "[link=http://evil]here[/link]",
    "[red",
    "\\[bold]",
    ":skull:",
    "[[x]]",
    "x\\",
    "{}",
]


@pytest.mark.parametrize("marks", MARKS)
def test_marks_of_strangers_stand_there_as_they_were_said(marks: str) -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    table = Table(marks, title=marks)
    table.add_row(marks)
    terminal.print(marks, Panel(marks), table, marked("[red]{}[/]!", marks))
    drawn = terminal.file.getvalue()
    assert drawn.count(marks) == 6
    assert f"{marks}!" in drawn


@given(st.text(st.characters(), max_size=60))
def test_any_value_can_be_marked(text: str) -> None:
    assert marked("[red]{}[/]", text).plain == Text(text).plain


@given(st.text(st.characters(), max_size=60))
def test_any_text_can_be_drawn(text: str) -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    terminal.print(text)
    terminal.print(Panel(text), marked("[bold]{}[/]", text))
    assert "\x1b" not in terminal.file.getvalue()


def test_a_table_that_is_drawn_live_is_not_cut_where_there_is_no_terminal() -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    with Live(Table("x" * 300, "y"), console=terminal):
        pass
    assert "x" * 300 in terminal.file.getvalue()


def test_two_lanes_are_of_an_ordinary_width_where_there_is_no_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> list[str]:
        terminal = Terminal()
        terminal.file = io.StringIO()
        lanes = Table.grid(expand=True)
        lanes.add_column(ratio=1)
        lanes.add_column(ratio=1)
        lanes.add_row(Group(Text("left " * 100), Table(*["inner"] * 3)), Group(Text("right " * 100)))
        terminal.print(Panel(lanes))
        terminal.print(Group(Text("text " * 100), lanes))
        return terminal.file.getvalue().splitlines()

    monkeypatch.delenv("COLUMNS", raising=False)
    lines = drawn()
    assert {len(line) for line in lines if "left" in line and "right" in line} <= set(range(100, 121))
    assert max(len(line) for line in lines if "text" not in line) <= 120
    assert "".join(lines).count("left") == "".join(lines).count("right") == 200
    monkeypatch.setenv("COLUMNS", "90")
    assert max(len(line) for line in drawn() if "text" not in line) <= 90


def test_a_table_is_not_filled_up_with_blanks_where_there_is_no_terminal() -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    table = Listing("one", "two")
    table.add("a", "x" * 300)
    table.add("b", "y")
    terminal.print(table)
    drawn = terminal.file.getvalue().splitlines()
    assert all(line == line.rstrip() for line in drawn)
    assert {len(line) for line in drawn if "─" in line} == {80}  # the line below the head, however long texts are
    assert [line.split() for line in drawn if line and line.isascii()] == [["one", "two"], ["a", "x" * 300], ["b", "y"]]


class Screen(io.StringIO):
    """A terminal that remembers what was drawn on it."""

    def isatty(self) -> bool:
        return True


def on_screen(width: int, drawn: Listing | Table) -> list[str]:
    """The lines that a terminal of a width shows, without colours."""
    terminal = Terminal()
    terminal.file = Screen()
    terminal.width = width
    terminal.print(drawn)
    lines = re.sub(r"\x1b\[[0-9;]*m", "", terminal.file.getvalue()).splitlines()
    assert all(len(line) <= width for line in lines)
    return [line.rstrip() for line in lines if line.strip(" ─")]


@pytest.mark.parametrize(
    ("width", "lines"),
    [
        (90, [["name", "calls", "task"], ["x" * 40, "1234567", "word", "word"]]),
        (56, [["name", "calls"], ["x" * 40, "1234567"]]),
        (45, [["x" * 40], ["calls", "1234567"], ["word", "word"]]),
    ],
)
def test_a_narrow_terminal_cuts_neither_names_nor_figures(width: int, lines: list[list[str]]) -> None:
    listing = Listing("name", "calls", "task")
    listing.add("x" * 40, "1234567", "word word")
    assert [line.split() for line in on_screen(width, listing)] == lines


def test_a_text_that_is_wanted_whole_is_not_cut() -> None:
    listing = Listing("name", "what it is")
    listing.add("a", "word " * 40, whole=True)
    assert " ".join(on_screen(60, listing)).count("word") == 40


def test_figures_of_a_run_under_way_are_whole_in_80_columns() -> None:
    progress = SuiteProgress(Terminal(), "suite")
    names = ("desk_that_rebooks_airline_passengers", "equipment_booking_of_a_university_laboratory")
    for name in names:
        progress.tallies[name] = RolloutCounts(planned=1240, done=1239, judged=1239, successes=1239, reward=1239)
        progress.tallies[name].calls, progress.tallies[name].tokens_in = 123_456, 12_345_678
    lines = on_screen(80, progress.table())
    assert "…" not in "".join(lines)
    figures = ["1239/1240", "100.0%", "1.000", "0", "0", "0", "123,456", "12,345,678"]
    assert [line.split()[1:] for line in lines if "1239/1240" in line] == [figures, figures]
    folded = "".join(line.split()[0] for line in lines)
    assert all(name in folded for name in names)


def test_a_panel_is_its_title_and_its_text_where_there_is_no_terminal() -> None:
    terminal = Terminal()
    terminal.file = io.StringIO()
    terminal.print(Panel(Text("word " * 40 + "end\n[bold]"), title=Text("task"), subtitle=Text("3 turns")))
    assert terminal.file.getvalue() == f"task\n{'word ' * 40}end\n[bold]\n3 turns\n"


def test_what_commands_do_stands_one_under_another() -> None:
    told = hints("Next:", ("farm check shop", "is it sound?"), ("farm up", "a farm"))
    assert told == "Next:\n  farm check shop  is it sound?\n  farm up          a farm"
