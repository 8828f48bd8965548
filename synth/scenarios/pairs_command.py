"""The command `farm synth pairs`, which makes scenarios over two environments from recipes."""

from collections import Counter
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Annotated

import typer

from servers.cli.command_options import Bundle, bundle_of
from servers.errors import RequestError
from servers.files.atomic_write import make_sure_of
from servers.text.terminal import Terminal
from servers.text.wording import counted

out = Terminal()


def pairs(
    bundle: Bundle,
    second: Annotated[str, typer.Argument(help="The id of the second environment, which lies in the same folder.")],
    n: Annotated[
        int, typer.Option(min=1, help="The number of scenarios over both in the end, existing ones included.")
    ] = 20,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same scenarios.")] = 1,
    to: Annotated[
        Path | None, typer.Option("--out", help="The file to add them to; the bundle's own by default.")
    ] = None,
) -> None:
    """Make certified scenarios over two environments, without a model, from the pairs of recipes.json."""
    folder = bundle_of(bundle)
    other = folder.parent / second
    if not (other / "environment.json").is_file():
        raise RequestError(f"no environment {second!r} beside {folder}; both lie in one folder")
    path = to or folder / "scenarios.jsonl"
    make_sure_of(path, "--out")
    from synth.processes.inline_loop import run_alone

    left_out: Counter[str] = Counter()
    count = run_alone(_made(folder, other, path, n, seed, left_out))
    for reason, times in left_out.most_common():
        out.print(f"left out, {times} ×: {reason}", markup=False, soft_wrap=True)
    out.print(f"{counted(count, 'scenario')} over {folder.name} and {second}: {path}", soft_wrap=True)


async def _made(folder: Path, other: Path, path: Path, n: int, seed: int, left_out: Counter[str]) -> int:
    from synth.backward.generator import Shelf
    from synth.play.playground import Playground
    from synth.recipes.pair_scenarios import MadePair, make_pairs

    async with AsyncExitStack() as stack:
        stages = (
            await stack.enter_async_context(Playground(folder)),
            await stack.enter_async_context(Playground(other)),
        )
        shelf = Shelf(path, stages[0])

        def keep(tried: MadePair) -> None:
            if tried.scenario is None:
                left_out[f"{tried.recipe}: {tried.reason}"] += 1
            else:
                shelf.add(tried.scenario)

        return await make_pairs(stages, n=n, seed=seed, there=list(shelf.there), on_made=keep)
