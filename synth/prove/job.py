"""The work of one process that proves: it proves the environments that it is given."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from synth.play.pinned_bundle import PinnedBundle
from synth.prove.proof import Proof
from synth.prove.prover import prove


@dataclass(frozen=True)
class ProofJob:
    """Proves with so many calls."""

    calls: int
    seed: int

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[PinnedBundle], Awaitable[Proof]]]:
        """Nothing is to be opened: each proof has stages of its own."""

        async def proved(bundle: PinnedBundle) -> Proof:
            with bundle.on_worker():
                return await prove(bundle.folder, calls=self.calls, seed=self.seed)

        yield proved
