"""A rollout has one of four ends, a reward for all but one of them, and no lease afterwards."""

import asyncio
import signal
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from agent_client.errors import AgentError
from agent_client.events import EpisodeStart, Event
from agent_client.model import Message, Model, Reply
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import Retries
from agent_client.play import Limits
from agent_client.scripted_model import ScriptedCall, ScriptedModel
from agent_client.trace import ToolCall, ToolSpec
from evals.rollout import Rollout, rollout
from evals.runs.progress import RolloutCounts
from evals.runs.records import RolloutRecord
from registry.client import FarmClient
from registry.farm import private
from registry.messages import ScenarioDetail
from tests.breaking import Breaker, farm_with_slow_checkpoint
from tests.doubles import StubEndpoint, refused, said
from tests.processes import LONG, farm_up

DEARER = ScriptedCall(tool="price", arguments={"id": "t2", "cents": 250})


@dataclass(frozen=True)
class Talker:
    """A model that says whatever a function says, which is told how many turns were before."""

    say: Callable[[int], Reply]
    name: str = "talker"

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        return self.say(sum(isinstance(message, Reply) for message in messages))


class Ponderer:
    """A model that never answers."""

    name = "ponderer"

    def __init__(self) -> None:
        self.asked = asyncio.Event()

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.asked.set()
        await asyncio.Event().wait()
        raise AssertionError("it has answered")


@dataclass(frozen=True)
class Saboteur:
    """A model that does something to its own farm before it goes on as another would."""

    model: Model
    harm: Callable[[], Any]
    name: str = "saboteur"

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        await self.harm()
        return await self.model.reply(messages, tools)


@dataclass(frozen=True)
class Table:
    """A farm and a scenario to play at."""

    farm: FarmClient
    scenario: ScenarioDetail

    async def play(self, model: Model, limits: Limits | None = None, **more: Any) -> Rollout:
        return await rollout(self.farm, self.scenario, model, limits=limits or Limits(seconds=LONG), **more)

    async def live(self) -> int:
        return (await self.farm.leases(status="live")).total

    async def launched(self) -> int:
        return (await self.farm.leases()).total


@asynccontextmanager
async def table(shelf: Path) -> AsyncGenerator[Table]:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        yield Table(farm, await farm.scenario("shop", "dearer"))


def always_calling(number: int) -> Reply:
    call = ToolCall(id=f"call_{number}", tool=DEARER.tool, arguments=DEARER.arguments)
    return Reply(calls=(call,), tokens_in=10, tokens_out=5)


async def test_what_was_asked_for_is_scored_with_the_whole_record(shelf: Path) -> None:
    async with table(shelf) as at:
        events: list[Event] = []
        run = await at.play(ScriptedModel([DEARER], "Done."), seed=5, on_event=events.append)
        assert (run.outcome, run.reward, run.success, run.error) == ("scored", 1.0, True, "")
        assert (run.environment, run.scenario, run.seed) == ("shop", "dearer", 5)
        assert run.trace is not None
        assert (run.trace.task, run.trace.answer) == (at.scenario.scenario.task, "Done.")
        assert run.score is not None
        assert [verdict.holds for verdict in run.score.verdicts] == [True]
        assert isinstance(events[0], EpisodeStart)
        assert Rollout.model_validate_json(run.model_dump_json()) == run
        assert (await at.live(), await at.launched()) == (0, 1)


async def test_a_wrong_answer_is_a_zero(shelf: Path) -> None:
    async with table(shelf) as at:
        run = await at.play(ScriptedModel([], "Done."))
        assert (run.outcome, run.reward, run.success) == ("scored", 0.0, False)
        assert await at.live() == 0


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        (Limits(turns=3), "not finished after 3 turns"),
        (Limits(tokens=40), "not finished after 40 tokens"),
    ],
)
async def test_a_limit_is_a_timeout_that_is_worth_what_the_state_is_worth(
    shelf: Path, limits: Limits, said: str
) -> None:
    async with table(shelf) as at:
        run = await at.play(Talker(always_calling), limits)
        assert (run.outcome, run.reward, run.success, run.error) == ("timeout", 1.0, True, said)
        assert run.trace is not None
        assert run.trace.calls == 3
        assert await at.live() == 0


async def test_a_model_that_never_answers_is_a_timeout(shelf: Path) -> None:
    async with table(shelf) as at:
        run = await at.play(Ponderer(), Limits(seconds=0.01))
        assert (run.outcome, run.reward, run.error) == ("timeout", 0.0, "not finished after 0.01 s")
        assert await at.live() == 0


async def test_a_model_without_a_word_is_an_agent_error(shelf: Path) -> None:
    async with table(shelf) as at:
        run = await at.play(Talker(lambda number: Reply() if number else always_calling(0)))
        assert (run.outcome, run.reward) == ("agent_error", 1.0)
        assert "said nothing" in run.error
        assert await at.live() == 0


async def test_a_model_that_errs_is_an_agent_error(shelf: Path) -> None:
    async def err() -> None:
        raise AgentError("this cannot be answered")

    async with table(shelf) as at:
        run = await at.play(Saboteur(ScriptedModel([]), err))
        assert (run.outcome, run.reward, run.error) == ("agent_error", 0.0, "this cannot be answered")
        assert await at.live() == 0


@pytest.mark.parametrize("depth", [99, 101, 199, 300, 900])
async def test_arguments_nested_without_end_are_the_agent_s_own_doing(shelf: Path, depth: int) -> None:
    nested: dict[str, Any] = {}
    for _ in range(depth):
        nested = {"text": nested}
    call = ToolCall.read("call_1", "find", nested)
    model = Talker(lambda number: Reply(text="Done.") if number else Reply(calls=(call,)))
    async with table(shelf) as at:
        run = await at.play(model)
        assert (run.outcome, run.reward) == ("scored", 0.0)
        assert run.trace is not None
        assert run.trace.turns[0].results[0].is_error
        assert Rollout.model_validate_json(run.model_dump_json()) == run


async def test_an_endpoint_that_refuses_is_no_zero(shelf: Path) -> None:
    async with table(shelf) as at, StubEndpoint([refused(401, "no such key")]).serve() as url:
        async with ChatModel(url, "m") as model:
            run = await at.play(model)
        assert (run.outcome, run.reward, run.success) == ("infra_error", None, None)
        assert "HTTP 401: no such key; no key was given" in run.error
        assert await at.live() == 0


async def test_an_endpoint_that_dies_in_the_middle_is_no_zero_and_what_was_done_is_kept(shelf: Path) -> None:
    asked = said(calls=[{"id": "a", "name": "price", "arguments": '{"id": "t2", "cents": 250}'}])
    endpoint = StubEndpoint([asked, refused(503, "going down")])
    async with table(shelf) as at, endpoint.serve() as url:
        async with ChatModel(url, "m", retries=Retries(attempts=1)) as model:
            run = await at.play(model)
        assert (run.outcome, run.reward) == ("infra_error", None)
        assert "HTTP 503" in run.error
        assert run.trace is not None
        assert run.trace.calls == 1
        assert await at.live() == 0


async def test_a_hundred_calls_in_one_turn_are_all_made_in_order(shelf: Path) -> None:
    calls = tuple(ToolCall(id=f"c{n}", tool="price", arguments={"id": "t2", "cents": n}) for n in range(151, 251))
    model = Talker(lambda number: Reply(text="Done.") if number else Reply(text="So:", calls=calls))
    async with table(shelf) as at:
        run = await at.play(model, with_effects=True)
        assert (run.outcome, run.reward) == ("scored", 1.0)
        assert run.trace is not None
        assert len(run.trace.turns[0].results) == 100
        assert run.effects is not None
        assert [effect.call for effect in run.effects] == list(range(100))


async def test_an_instance_that_is_closed_under_the_agent_is_no_zero(shelf: Path) -> None:
    async with table(shelf) as at:

        async def close() -> None:
            for lease in (await at.farm.leases(status="live")).items:
                await at.farm.close(lease.instance)

        run = await at.play(Saboteur(ScriptedModel([DEARER], "Done."), close))
        assert (run.outcome, run.reward, run.success) == ("infra_error", None, None)
        assert "it was closed" in run.error
        assert await at.live() == 0


@pytest.mark.parametrize("after", [0, 1])
async def test_a_farm_that_dies_under_the_agent_is_no_zero(shelf: Path, tmp_path: Path, after: int) -> None:
    """At the first turn the calls find nobody; at the last one the score does."""
    async with (
        farm_up(tmp_path / "state", "--port", "0", "--library", shelf, home=tmp_path) as up,
        FarmClient(up.url, up.token) as farm,
    ):
        at = Table(farm, await farm.scenario("shop", "dearer"))
        turns = iter(range(10))

        async def kill() -> None:
            if next(turns) == after:
                await up.ended_by(signal.SIGKILL)

        run = await at.play(Saboteur(ScriptedModel([DEARER], "Done."), kill))
    assert (run.outcome, run.reward, run.success, run.score) == ("infra_error", None, None, None)
    assert "is the farm up" in run.error if after == 0 else "no farm answers" in run.error


async def test_a_farm_that_is_not_there_is_no_zero(shelf: Path) -> None:
    async with table(shelf) as at:
        scenario = at.scenario
    async with FarmClient("http://127.0.0.1:9", "token") as nobody:
        run = await rollout(nobody, scenario, ScriptedModel([]), limits=Limits())
    assert (run.outcome, run.reward, run.trace) == ("infra_error", None, None)
    assert "no farm answers at http://127.0.0.1:9" in run.error


@pytest.mark.parametrize(("kills", "outcome", "reward"), [(1, "scored", 1.0), (2, "infra_error", None)])
async def test_a_rollout_whose_checkpoint_s_guests_are_killed_is_no_zero(
    tmp_path: Path, kills: int, outcome: str, reward: float | None
) -> None:
    async with farm_with_slow_checkpoint(tmp_path) as (_, farm):
        model = Breaker(kills)
        run = await Table(farm, await farm.scenario("shop", "dearer")).play(model)
        assert model.killing is not None
        await model.killing
    assert (run.outcome, run.reward, run.success) == (outcome, reward, reward and True)
    tally = RolloutCounts()
    tally.add(RolloutRecord(attempt=0, agent="breaker", agent_digest="", suite_digest="", rollout=run))
    assert tally.broken == kills - 1


async def test_a_scenario_that_is_gone_is_no_zero(shelf: Path) -> None:
    async with table(shelf) as at:
        gone = at.scenario.model_copy(update={"environment": "zoo"})
        run = await rollout(at.farm, gone, ScriptedModel([]), limits=Limits())
        assert (run.outcome, run.reward) == ("infra_error", None)
        assert "no environment 'zoo'" in run.error
        assert await at.launched() == 0


async def test_a_rollout_that_is_given_up_gives_its_lease_back(shelf: Path) -> None:
    async with table(shelf) as at:
        model = Ponderer()
        run = asyncio.create_task(at.play(model))
        await model.asked.wait()
        assert await at.live() == 1
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await at.live() == 0


async def test_a_model_that_breaks_is_told_and_gives_its_lease_back(shelf: Path) -> None:
    async def break_down() -> None:
        raise ZeroDivisionError

    async with table(shelf) as at:
        with pytest.raises(ZeroDivisionError):
            await at.play(Saboteur(ScriptedModel([]), break_down))
        assert await at.live() == 0


class Breaking(httpx2.AsyncBaseTransport):
    """A connection that breaks because somebody wants the task to stop that waits for it."""

    def __init__(self) -> None:
        self.waiting: asyncio.Task[Any] | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert self.waiting is not None
        self.waiting.cancel()
        raise httpx2.ConnectError("broke", request=request)


async def test_who_is_cancelled_while_connecting_stops_though_the_connection_broke_over_it(shelf: Path) -> None:
    wire = Breaking()
    async with table(shelf) as at, httpx2.AsyncClient(transport=wire) as http:
        wire.waiting = asyncio.create_task(at.play(ScriptedModel([], ""), http_client=http))
        with pytest.raises(asyncio.CancelledError):
            await wire.waiting
        assert (await at.live(), await at.launched()) == (0, 1)
