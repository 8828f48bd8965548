"""How topics come out of task texts: a function that the stages give, run once before any environment begins."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from synth.llm.embedding import Embedder
from synth.pipeline.asker import Asker
from synth.pipeline.topic import Topic


class Mining(Protocol):
    """From a file of task texts to at most `n` topics; `folder` keeps what is worth seeing, reports and maps too.

    `asker(label)` gives an Asker, `label` being `mine/000017` or the like. It is called again from the beginning when a
    run is resumed: what was asked before is answered from the cache. `embedder`, if there is one, says what is alike.
    """

    async def __call__(
        self, tasks: Path, n: int, folder: Path, asker: Callable[[str], Asker], embedder: Embedder | None = None
    ) -> Sequence[Topic]:
        """Mine and choose."""
        ...
