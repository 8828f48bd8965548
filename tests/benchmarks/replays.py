"""Replays of truths over real HTTP: lease, call over MCP, score. And where the benchmarks' files are."""

import ast
import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agent_client.wire import shared_http
from registry.client import FarmClient, every_item
from registry.farm import Options, running
from registry.messages import Score
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario

UPSTREAM = Path(os.environ.get("FARM_UPSTREAM", Path(__file__).resolve().parents[3] / "shared" / "upstream"))
"""The users' clones: in the folder `shared` beside the repository, or where the variable says."""
STAND_INS = Path(__file__).parent / "stand_ins"
"""What we wrote for the tests in the layouts of the benchmarks."""
AT_ONCE = 4
Calls = Callable[[Scenario], Sequence[PlannedCall]]
MARK = PlannedCall(tool="next turn")
"""Stands among calls where a turn begins, which is marked through the control door."""


@dataclass
class Replay:
    """What came of one scenario: the texts of its calls, and its score."""

    texts: list[str] = field(default_factory=list[str])
    score: Score | None = None

    @property
    def passed(self) -> bool:
        assert self.score is not None
        assert self.score.outcome == "scored", self.score.error
        return self.score.success is True


def truth(scenario: Scenario) -> Sequence[PlannedCall]:
    return scenario.reference().calls


def turns(scenario: Scenario) -> Sequence[PlannedCall]:
    """The truth of a task of BFCL, with its turns."""
    [checkpoint] = scenario.checkpoints
    assert isinstance(checkpoint, OfficialCheckpoint)
    found: list[PlannedCall] = []
    for turn in checkpoint.truth["calls"]:
        found += [MARK, *(PlannedCall(tool=tool, arguments=arguments) for tool, arguments in turn)]
    return found


def milestones(scenario: Scenario) -> Sequence[PlannedCall]:
    """The first list of milestones of a task of ACEBench."""
    return lists_of_milestones(scenario)[0]


def lists_of_milestones(scenario: Scenario) -> list[list[PlannedCall]]:
    """The calls of each way to the end that a task of ACEBench names, of those that upstream can decode."""
    [checkpoint] = scenario.checkpoints
    assert isinstance(checkpoint, OfficialCheckpoint)
    told: Any = checkpoint.truth["answer"]["mile_stone"]
    lists: list[list[str]] = [told] if all(isinstance(one, str) for one in told) else told
    return [[call for text in one for call in decoded(text)] for one in lists]


def decoded(text: str) -> list[PlannedCall]:
    """The calls of a milestone. Upstream decodes none with a blank behind its bracket, or with a bare quote inside."""
    try:
        node = ast.parse(text if text.endswith("]") else "[]", mode="eval").body
    except SyntaxError:
        return []
    calls = [one for one in node.elts if isinstance(one, ast.Call)] if isinstance(node, ast.List) else []
    return [
        PlannedCall(
            tool=ast.unparse(one.func), arguments={key.arg or "": ast.literal_eval(key.value) for key in one.keywords}
        )
        for one in calls
    ]


def nothing(_scenario: Scenario) -> Sequence[PlannedCall]:
    return ()


@asynccontextmanager
async def farm_of(library: Path, state: Path, *, workers: int = 1) -> AsyncGenerator[FarmClient]:
    options = Options(library=(library,), state=state, port=0, workers=workers)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        yield client


async def replayed(
    client: FarmClient, environment: str, calls: Calls = truth, *, answers: bool = True, most: int | None = None
) -> dict[str, Replay]:
    """Play every scenario of an environment, or the first ones."""
    cards = await every_item(lambda offset: client.scenarios(environment, offset=offset))
    gate = asyncio.Semaphore(AT_ONCE)
    async with shared_http() as http, asyncio.TaskGroup() as group:

        async def play(name: str) -> Replay:
            async with gate:
                scenario = (await client.scenario(environment, name)).scenario
                replay = Replay()
                async with client.leased(environment, name, http_client=http) as live, live.connect() as toolbox:
                    for call in calls(scenario):
                        if call is MARK:
                            await live.mark_turn()
                            continue
                        result = await toolbox.call(call.tool, call.arguments)
                        replay.texts.append(result.text)
                    answer = scenario.solution.answer if scenario.solution and answers else ""
                    replay.score = await live.score(answer)
                return replay

        tasks = {card.id: group.create_task(play(card.id)) for card in cards[:most]}
    return {name: task.result() for name, task in tasks.items()}
