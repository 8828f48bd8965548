"""A live table of a run."""

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from servers.text.wording import counted
from synth.pipeline.progress import ProgressRow, RunProgress

MOST_ROWS = 24
COLOURS = {"accepted": "green", "rejected": "red", "failed": "red", "stopped": "yellow", "waiting": "yellow"}


def live(console: Console, progress: RunProgress) -> Live:
    """A live table of a run, below a line for each stage that begins and each environment that ends.

    Without a terminal there are only the lines.
    """

    def say(line: str) -> None:
        console.print(line, soft_wrap=True, markup=False)

    progress.on_stage = lambda name, row: say(f"{name}: {row.stage} begins{_spent(row)}")
    progress.on_end = lambda name, row: say(f"{name}: {row.state}{f': {row.why}' if row.why else ''}{_spent(row)}")
    return Live(
        console=console,
        get_renderable=lambda: table(progress),
        refresh_per_second=2,
        transient=not console.is_terminal,
    )


def table(progress: RunProgress) -> RenderableType:
    """The current table, in 80 columns: running environments first. A long name continues in the next line."""
    rows = sorted(progress.rows.items(), key=lambda item: item[1].state != "under way")
    has_prices = any(progress.prices.model_dump().values())
    shown = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    shown.add_column("environment", overflow="fold")
    shown.add_column("stage", no_wrap=True)
    for name in ("asked", "refused", "tokens", *(["money"] if has_prices else [])):
        shown.add_column(name, no_wrap=True, justify="right")
    shown.add_column("state")
    for name, row in rows[:MOST_ROWS]:
        attempt = f" {row.here}" if row.here > 1 else ""
        shown.add_row(name, f"{row.stage}{attempt}", *_numbers(row, has_prices=has_prices), _coloured(row.state))
    if len(rows) > MOST_ROWS:
        shown.add_row(f"… {len(rows) - MOST_ROWS} more")
    states = ", ".join(f"{count} {state}" for state in COLOURS if (count := progress.count(state)))
    shown.add_section()
    shown.add_row(f"all {len(rows)}", "", *_numbers(progress.total, has_prices=has_prices), states)
    return shown


def _spent(row: ProgressRow) -> str:
    """What an environment took so far, behind a line about it."""
    if not row.asked:
        return ""
    tokens = f"{row.prompt_tokens + row.completion_tokens:,} tokens"
    return f" ({counted(row.asked, 'request')}, {counted(row.rejected, 'answer')} refused, {tokens})"


def _numbers(row: ProgressRow, *, has_prices: bool) -> tuple[str, ...]:
    money = (f"{row.money:.2f}",) if has_prices else ()
    return f"{row.asked}", f"{row.rejected}", f"{row.prompt_tokens + row.completion_tokens:,}", *money


def _coloured(state: str) -> Text:
    colour = COLOURS.get(state)
    return Text(state, colour or "")
