"""A scenario whose checkpoint is asked in a guest, and what happens to a rollout when that guest is killed twice."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

from agent_client.model import Message, Reply
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.trace import ToolSpec
from registry.client import Address, FarmClient
from registry.farm import private
from tests.bundles import SOUND_SCENARIO, write_bundle
from tests.processes import kill_next_guests

PRICED = {
    "id": "priced",
    "role": "goal",
    "question": "Does the bell cost 2.50?",
    "kind": "python",
    "python": "def check(start, final, answer, calls):\n"
    "    bell = final.one(\"SELECT cents FROM things WHERE id = 't2'\")\n"
    "    return sum(range(30_000_000)) > 0 and bell['cents'] == 250\n",
}
"""It holds, and takes a second."""


@asynccontextmanager
async def farm_with_slow_checkpoint(folder: Path) -> AsyncGenerator[tuple[Address, FarmClient]]:
    """A farm in this process."""
    await write_bundle(folder / "shop", scenarios=[{**SOUND_SCENARIO, "checkpoints": [PRICED]}])
    async with private((folder,)) as address, FarmClient(address.url, address.token) as farm:
        yield address, farm


class Breaker:
    """A model that does all that is asked. Once it has, the guests of the judgement are killed, so many."""

    name = "breaker"

    def __init__(self, kills: int) -> None:
        self._model = ScriptedModel([ScriptedCall(tool="price", arguments={"id": "t2", "cents": 250})], "Done.")
        self._kills = kills
        self.killing: asyncio.Task[None] | None = None
        self.tokens = SimpleNamespace(mask=[1])
        self.generate_seconds = 0.0

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        reply = await self._model.reply(messages, tools)
        if not reply.calls:
            begun = asyncio.Event()
            self.killing = asyncio.create_task(kill_next_guests(os.getpid(), self._kills, begun))
            await begun.wait()
        return reply
