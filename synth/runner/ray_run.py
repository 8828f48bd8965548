"""Makes environments on the machines of a Ray cluster: the same stages and writers, on one shared disk.

Needs `ray`, the extra `envfarm[scale]`.
"""

# pyright: reportMissingImports=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportMissingTypeStubs=false

from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import cycle
from typing import Any

import ray

from servers.cluster.ray_cluster import OPTIONS, cluster
from servers.errors import FarmError
from synth.pipeline.asker import WriterExchange
from synth.pipeline.engine import Advanced, Elsewhere, SynthesisRun
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.plan import RunPlan
from synth.pipeline.progress import RunProgress
from synth.pipeline.stage import Stage
from synth.runner.writer_choice import writer_for

MOST_HANDS = 64


class RayEnvironmentWorker:
    """One process of the cluster, with a writer of its own."""

    def __init__(self, plan: RunPlan, stages: Sequence[Stage], api_key: str) -> None:
        self._plan = plan
        self._stages = stages
        self._api_key = api_key
        self._stack = AsyncExitStack()
        self._run: SynthesisRun | None = None
        self._said: dict[str, list[WriterExchange]] = {}

    async def begin(self) -> None:
        """Open the writer."""
        folder = SynthesisFolder(self._plan.out)
        writer = await self._stack.enter_async_context(writer_for(self._plan, folder, self._api_key))
        progress = RunProgress(on_exchange=lambda name, exchange: self._said.setdefault(name, []).append(exchange))
        self._run = SynthesisRun(folder, self._stages, writer, self._plan.wishes, progress=progress)

    async def advance(self, name: str) -> Advanced:
        """Advance an environment as far as possible."""
        if self._run is None:
            raise LookupError("begin first")
        refused, end = "", None
        try:
            end = await self._run.environment(name).advance()
        except FarmError as error:
            refused = str(error)
        return Advanced(end, refused, tuple(self._said.pop(name, ())))

    async def close(self) -> None:
        """Close the writer."""
        await self._stack.aclose()


@asynccontextmanager
async def machines(
    plan: RunPlan, stages: Sequence[Stage], api_key: str, *, address: str = ""
) -> AsyncGenerator[Elsewhere]:
    """One process for each core of the cluster. Environments are distributed in turn."""
    with cluster(address) as cores:
        count = max(1, min(cores, MOST_HANDS, plan.at_once))
        here = plan.model_copy(update={"out": plan.out.resolve(), "at_once": max(1, plan.at_once // count)})
        actor: Any = ray.remote(RayEnvironmentWorker)
        hands: list[Any] = [
            actor.options(**OPTIONS, max_concurrency=here.at_once).remote(here, stages, api_key) for _ in range(count)
        ]
        for hand in hands:
            await hand.begin.remote()
        turns = cycle(hands)

        async def elsewhere(name: str) -> Advanced:
            return await next(turns).advance.remote(name)

        try:
            yield elsewhere
        finally:
            for hand in hands:
                await hand.close.remote()
