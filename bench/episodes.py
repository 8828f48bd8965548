"""The cost of the harness: many concurrent episodes with a scripted agent, the farm in another process.

python -m bench.episodes [EPISODES [CALLS]]

Measures this process alone: MCP client, episode, record. Prints processor time for a call and memory for a running
episode. The agents wait for each other before their last turn, so that all episodes run at the same time.
"""

import asyncio
import os
import resource
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import uvloop

from agent_client.model import CallReply, Message, Reply
from agent_client.play import Limits
from agent_client.trace import ToolCall, ToolSpec
from agent_client.wire import shared_http
from bench import processes, subject
from bench.farm_process import FarmProcess, running
from evals.rollout import Rollout, rollout
from registry.client import FarmClient

EPISODES = 512
CALLS = 10
MOST_MILLISECONDS = 2.0
MOST_BYTES = 1_000_000


@dataclass
class Meeting:
    """A barrier for all episodes, which also records the memory of this process."""

    expected: int
    here: int = 0
    memory: int = 0
    all_here: asyncio.Event = field(default_factory=asyncio.Event)

    async def meet(self) -> None:
        self.here += 1
        if self.here == self.expected:
            self.memory = processes.memory([os.getpid()])
            self.all_here.set()
        await self.all_here.wait()


@dataclass(frozen=True)
class Caller:
    """Makes some calls, one a turn, waits at the barrier, and ends."""

    calls: int
    meeting: Meeting
    name: str = "caller"

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        made = sum(isinstance(message, CallReply) for message in messages)
        if made < self.calls:
            return Reply(calls=(ToolCall(id=f"call_{made}", tool=subject.TOOL, arguments=subject.ARGUMENTS),))
        await self.meeting.meet()
        return Reply(text="Done.", final=True)


async def played(farm: FarmProcess, url: str, episodes: int, calls: int) -> tuple[list[Rollout], float, Meeting]:
    """Play all episodes concurrently. Returns them, this process's processor seconds, and the barrier."""
    meeting = Meeting(episodes)
    async with FarmClient(url, farm.token) as client, shared_http(episodes) as http:
        scenario = await client.scenario("store", subject.SCENARIO["id"])

        async def one() -> Rollout:
            limits = Limits(turns=calls + 1, seconds=600)
            model = Caller(calls, meeting)
            return await rollout(client, scenario, model, limits=limits, http_client=http)

        begin = time.process_time()
        runs = await asyncio.gather(*(one() for _ in range(episodes)))
        return runs, time.process_time() - begin, meeting


def main() -> None:
    """Measure, print, and fail if a target is missed."""
    given = [int(word) for word in sys.argv[1:]]
    episodes, calls = [*given, *(EPISODES, CALLS)[len(given) :]][:2]
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="bench-") as scratch:
        folder = Path(scratch)
        subject.write_bundle(folder / "library" / "store")
        with running(folder / "library", folder / "state") as farm:
            url = f"http://127.0.0.1:{farm.connection.port}"
            uvloop.run(played(farm, url, 8, calls))  # what is loaded once is loaded now
            before = processes.memory([os.getpid()])
            begin = time.monotonic()
            runs, cpu, meeting = uvloop.run(played(farm, url, episodes, calls))
            seconds = time.monotonic() - begin
    made = sum(run.trace.calls for run in runs if run.trace)
    each, memory = 1000 * cpu / made, (meeting.memory - before) / episodes
    scored = sum(run.outcome == "scored" for run in runs)
    print(f"{episodes} episodes at once, {made} calls, {scored} scored, {seconds:.1f} s")
    print(f"own processor time: {each:.2f} ms a call (at most {MOST_MILLISECONDS:g})")
    print(f"memory: {memory / 1000:.0f} kB an episode under way (at most {MOST_BYTES / 1000:g})")
    sys.exit(0 if each < MOST_MILLISECONDS and memory < MOST_BYTES and scored == episodes else 1)


if __name__ == "__main__":
    main()
