"""Progress at a terminal: a bar for what is counted, and a word on the orders that an earlier command has kept."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from servers.text.terminal import Terminal
from servers.text.wording import counted, noun
from synth.processes.job import Job
from synth.processes.kept_results import KeptResults, all_done
from synth.processes.process_pool import PoolSettings

OrderT = TypeVar("OrderT")
DoneT = TypeVar("DoneT")


def progress_on(terminal: Terminal) -> Progress:
    """A progress bar. It is shown at a terminal only, and is gone at its end."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )


class Shown(NamedTuple):
    """Where progress is shown, and in which words: the noun of an order, and what is done with it."""

    terminal: Terminal
    thing: str
    done: str


async def all_shown(
    orders: Sequence[OrderT],
    job: Job[OrderT, DoneT],
    pool: PoolSettings,
    kept: KeptResults[OrderT, DoneT] | None,
    shown: Shown,
    on_done: Callable[[OrderT], None] = lambda _: None,
) -> list[DoneT]:
    """The results of orders: those that were kept, and the others by processes. `on_done` hears of the others."""
    made = sum(kept.find(order) is not None for order in orders) if kept is not None else 0
    if made:
        before = f"{made} of {counted(len(orders), shown.thing)} {noun(made, 'was', 'were')} {shown.done} before."
        shown.terminal.print(before)
    with progress_on(shown.terminal) as progress:
        task = progress.add_task(shown.done, total=len(orders), completed=made)

        def one_more(order: OrderT) -> None:
            progress.advance(task)
            on_done(order)

        return await all_done(orders, job, pool, kept, one_more)
