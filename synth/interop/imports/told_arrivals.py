"""What the commands that import say: a line for each environment, then a table, the notes, and what is left out."""

from collections.abc import Callable, Sequence
from pathlib import Path

from pydantic import TypeAdapter, ValidationError
from rich.table import Table

from servers.errors import RequestError
from servers.files.trouble import trouble
from servers.records import Clock
from servers.text.terminal import Terminal
from servers.text.wording import counted
from synth.interop.imports.converter import CLOCK, Arrival

MOST_TOLD = 1000
"""Lines about what is left out. A damaged file may have an entry in each of its bytes."""

out = Terminal()
err = Terminal(stderr=True)


def arrival_counter(total: int) -> Callable[[Arrival], None]:
    """Prints a line for each arrival, with its number."""
    done = 0

    def on_arrival(arrival: Arrival) -> None:
        nonlocal done
        done += 1
        said = (
            "left out"  # the reason is told in the end
            if arrival.reason
            else f"{counted(arrival.tools, 'tool')}, {counted(arrival.scenarios, 'scenario')}"
        )
        err.print(f"{done}/{total} {arrival.id}: {said}", soft_wrap=True, markup=False)

    return on_arrival


def told(arrivals: Sequence[Arrival], left_out: Sequence[str]) -> int:
    """Print the result of an import. Returns the number of environments and entries left out."""
    table = Table("environment", "tools", "scenarios", "notes")
    for arrival in arrivals:
        if arrival.reason is None:
            table.add_row(arrival.id, str(arrival.tools), str(arrival.scenarios), str(len(arrival.notes)))
    if table.row_count:
        out.print(table)
    for arrival in arrivals:
        for note in arrival.notes:
            out.print(f"{arrival.id}: {note}", soft_wrap=True, markup=False)
    lost = [f"{arrival.id}: left out: {arrival.reason}" for arrival in arrivals if arrival.reason]
    lost += [f"left out: {reason}" for reason in left_out]
    tell_left_out(out, lost)
    came = [arrival for arrival in arrivals if arrival.reason is None]
    scenarios = sum(arrival.scenarios for arrival in came)
    out.print(f"{counted(len(came), 'environment')}, {counted(scenarios, 'scenario')}; {len(lost)} left out")
    return len(lost)


def tell_left_out(terminal: Terminal, lost: Sequence[str]) -> None:
    """Print the first of the lines about what is left out, and how many there are besides."""
    for line in lost[:MOST_TOLD]:
        terminal.print(line, soft_wrap=True, markup=False)
    if len(lost) > MOST_TOLD:
        terminal.print(f"… and {len(lost) - MOST_TOLD:,} more", soft_wrap=True, markup=False)


def make(folder: Path) -> None:
    """Make the folder of `--out`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RequestError(f"--out {folder}: cannot be made: {trouble(error)}") from None


def refuse_clock(clock: str | None) -> None:
    """Refuse a `--clock` that is no time."""
    try:
        if clock is not None:
            TypeAdapter(Clock).validate_python(clock)
    except ValidationError:
        raise RequestError(f"--clock {clock}: is no time; write it as {CLOCK}") from None
