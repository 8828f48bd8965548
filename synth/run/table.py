"""A run as a table that changes while one looks at it."""

from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from synth.run.progress import Progress, Row

MOST_ROWS = 24
COLOURS = {"accepted": "green", "rejected": "red", "failed": "red", "stopped": "yellow", "waiting": "yellow"}


def live(console: Console, progress: Progress) -> Live:
    """Enter it to show a run. Where nobody looks at a terminal, it says a line for each environment that ends."""
    if not console.is_terminal:
        progress.on_end = lambda name, row: console.print(f"{name}: {row.state}{f': {row.why}' if row.why else ''}")
    return Live(
        console=console,
        get_renderable=lambda: table(progress),
        refresh_per_second=2,
        transient=not console.is_terminal,
    )


def table(progress: Progress) -> RenderableType:
    """What there is to see now: those under way first."""
    rows = sorted(progress.rows.items(), key=lambda item: item[1].state != "under way")
    shown = Table("environment", "stage", "attempt", "asked", "rejected", "tokens in", "tokens out", "money", "state")
    for name, row in rows[:MOST_ROWS]:
        shown.add_row(name, row.stage, str(row.here or ""), *_numbers(row), _coloured(row.state))
    if len(rows) > MOST_ROWS:
        shown.add_row(f"… {len(rows) - MOST_ROWS} more")
    states = ", ".join(f"{count} {state}" for state in COLOURS if (count := progress.count(state)))
    shown.add_section()
    shown.add_row(f"all {len(rows)}", "", "", *_numbers(progress.total), states)
    return shown


def _numbers(row: Row) -> tuple[str, ...]:
    asked = f"{row.asked}" + (f" ({row.cached} cached)" if row.cached else "")
    return asked, str(row.rejected), f"{row.prompt_tokens:,}", f"{row.completion_tokens:,}", f"{row.money:.2f}"


def _coloured(state: str) -> Text:
    colour = COLOURS.get(state)
    return Text(state, colour or "")
