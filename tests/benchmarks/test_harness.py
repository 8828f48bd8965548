"""Benchmarks played as their own harnesses play them: users, turns, limits, and what comes of bad models."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agent_client.errors import EndpointDown
from agent_client.model import Instructions, Message, Model, Reply, User
from agent_client.play import Limits
from agent_client.trace import ToolCall, ToolSpec
from evals.benchmarks.harness import LimitsOf, limits_of, person_of, rules_of
from evals.rollout import Rollout, rollout
from registry.client import FarmClient
from servers.errors import RequestError
from servers.scenario.scenario import Scenario
from tests.benchmarks.replays import turns
from tests.benchmarks.test_acebench import acebench_farm
from tests.benchmarks.test_bfcl import bfcl_farm, needs_mpmath
from tests.benchmarks.test_tau_bench import RETAIL, tau_bench_farm

STOP = "###STOP###"
LOOK: tuple[str, dict[str, Any]] = ("look", {})
Script = Callable[[int, Sequence[Message]], Reply]


@dataclass
class Player:
    """A model that replies by a function of the number of its replies so far."""

    script: Script
    name: str = "player"
    seen: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])
    tools: list[set[str]] = field(default_factory=list[set[str]])

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.seen.append(messages)
        self.tools.append({one.name for one in tools})
        return self.script(len(self.seen) - 1, messages)


def lines(*replies: Reply | str) -> Player:
    """A model with fixed replies. The last one is repeated."""

    def script(number: int, _messages: Sequence[Message]) -> Reply:
        reply = replies[min(number, len(replies) - 1)]
        return Reply(text=reply) if isinstance(reply, str) else reply

    return Player(script)


def calls(*asked: tuple[str, dict[str, Any]], malformed: str = "") -> Reply:
    return Reply(
        calls=tuple(ToolCall(id=f"c{n}", tool=t, arguments=a, malformed=malformed) for n, (t, a) in enumerate(asked))
    )


async def played(
    client: FarmClient, environment: str, task: str, agent: Model, user: Model | None = None, of: LimitsOf = "official"
) -> Rollout:
    detail = await client.scenario(environment, task)
    scenario = detail.scenario
    return await rollout(
        client,
        detail,
        agent,
        limits=limits_of(scenario, of, Limits(seconds=60)),
        person=person_of(scenario, user),
        rules=rules_of(scenario, of),
    )


def seen(run: Rollout) -> dict[str, Any]:
    assert run.score is not None
    return json.loads(run.score.verdicts[0].seen)


async def test_the_user_of_tau_bench_speaks_in_upstreams_words_and_ends_the_conversation(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        swap = ("swap_plant", {"order_id": "N1", "old": "lavender", "new": "olive", "count": 2})
        user = lines("Two olive trees, please.", "Thanks.", STOP)
        agent = lines(calls(swap, ("get_order", {"order_id": "N1"})), "It is 58.00 in all.", "")
        run = await played(client, RETAIL, "task_2", agent, user)
        assert (run.outcome, run.reward) == ("scored", 1.0), run.error
        [told, greeting, *_] = user.seen[0]
        assert isinstance(told, Instructions)
        assert told.text.startswith("You ring up a nursery.\nYour errand: You are Ida Fern, card C-300.")
        assert greeting == User("Nursery, good day!")
        assert run.trace is not None
        assert [len(turn.calls) for turn in run.trace.turns] == [1, 0, 0]  # the second call is dropped, as upstream
        assert run.trace.user == "player"


async def test_transfer_to_a_human_ends_an_episode_of_tau_bench(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        swap = ("swap_plant", {"order_id": "N3", "old": "thyme", "new": "lavender", "count": 6})
        agent = lines(calls(swap), calls(("transfer_to_human_agents", {"summary": "Otto wants to talk"})))
        run = await played(client, RETAIL, "task_1", agent, lines("Six lavenders."))
        assert (run.outcome, run.reward, len(agent.seen)) == ("scored", 1.0, 2)


async def test_tau_bench_gives_nothing_for_a_right_state_at_the_limit(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        swap = ("swap_plant", {"order_id": "N1", "old": "lavender", "new": "olive", "count": 1})
        agent = lines(calls(swap), calls(("get_order", {"order_id": "N1"})))
        run = await played(client, RETAIL, "task_0", agent, lines("Go on."))
        assert (run.outcome, run.reward, run.success, len(agent.seen)) == ("timeout", 0.0, False, 30)
        assert run.score is not None
        assert run.score.reward == 1.0


async def test_a_user_model_that_dies_is_no_zero(tmp_path: Path) -> None:
    def dies(number: int, _messages: Sequence[Message]) -> Reply:
        if number:
            raise EndpointDown("the endpoint is gone")
        return Reply(text="Hello.")

    async with tau_bench_farm(tmp_path) as client:
        run = await played(client, RETAIL, "task_0", lines("What is it?"), Player(dies))
        assert (run.outcome, run.reward, run.success) == ("infra_error", None, None)
        assert "the simulated user (player) cannot go on: the endpoint is gone" in run.error


async def test_a_silent_model_talks_with_the_user_until_the_limit(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        run = await played(client, RETAIL, "task_0", lines(""), lines("Hello?"))
        assert (run.outcome, run.reward) == ("timeout", 0.0)


async def test_a_call_that_cannot_be_read_ends_an_episode_of_tau_bench_with_nothing(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        agent = lines(calls(("get_order", {}), malformed="no JSON"))
        run = await played(client, RETAIL, "task_0", agent, lines("Hello."))
        assert (run.outcome, run.reward) == ("agent_error", 0.0)


async def test_nobody_plays_the_user_without_a_model(tmp_path: Path) -> None:
    async with tau_bench_farm(tmp_path) as client:
        with pytest.raises(RequestError, match="task_0: a model plays the user of this benchmark; name one"):
            await played(client, RETAIL, "task_0", lines(""))


def truth_of(scenario: Scenario) -> Script:
    """Plays the calls of each turn at once, and then says something."""
    wanted: list[list[tuple[str, dict[str, Any]]]] = []
    for call in turns(scenario):
        if call.tool == "next turn":
            wanted.append([])
        else:
            wanted[-1].append((call.tool, call.arguments))

    def script(_number: int, messages: Sequence[Message]) -> Reply:
        turn = sum(isinstance(one, User) for one in messages) - 1
        fresh = isinstance(messages[-1], User)
        return calls(*wanted[turn]) if fresh and wanted[turn] else Reply(text="Done.")

    return script


@needs_mpmath
async def test_turns_of_bfcl_come_one_by_one_and_bring_their_tools(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "miss_func") as client:
        for task in ("task_0", "task_1"):
            scenario = (await client.scenario("bfcl_v4_miss_func", task)).scenario
            agent = Player(truth_of(scenario))
            run = await played(client, "bfcl_v4_miss_func", task, agent)
            assert (run.outcome, run.reward) == ("scored", 1.0), run.error
            said = [one.text for one in agent.seen[-1] if isinstance(one, User)]
            assert said == list(scenario.turns)
            late = {name for name, turn in (scenario.tools or {}).items() if turn > 0}
            assert not late & agent.tools[0]
            assert late < agent.tools[-1]


@needs_mpmath
async def test_a_model_that_never_stops_is_stopped_in_its_turn(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client:
        look = calls(LOOK)
        agent = lines(look)
        run = await played(client, "bfcl_v4_base", "task_0", agent)
        assert (run.outcome, run.reward, len(agent.seen)) == ("timeout", 0.0, 21)
        assert "not finished after 21 replies with calls" in run.error
        agent = lines(look)
        run = await played(client, "bfcl_v4_base", "task_0", agent, of="paper")
        assert (run.outcome, run.reward, len(agent.seen)) == ("timeout", 0.0, 40)


@needs_mpmath
async def test_thirty_calls_of_one_reply_are_one_step(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client:
        agent = lines(calls(*[LOOK] * 30), "Done.")
        run = await played(client, "bfcl_v4_base", "task_0", agent)
        assert (run.outcome, run.success) == ("scored", False)
        assert run.trace is not None
        assert len(run.trace.turns[0].results) == 30


@needs_mpmath
async def test_a_silent_model_and_one_that_cannot_be_read_end_their_turns(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client:
        for agent in (lines(""), lines(calls(LOOK, LOOK, malformed="no JSON"))):
            run = await played(client, "bfcl_v4_base", "task_0", agent)
            assert (run.outcome, run.success) == ("scored", False)
            scenario = (await client.scenario("bfcl_v4_base", "task_0")).scenario
            assert len(agent.seen) == len(scenario.turns)


@needs_mpmath
async def test_an_injected_call_is_a_text_and_runs_nothing(tmp_path: Path) -> None:
    async with bfcl_farm(tmp_path, "base") as client:
        evil = "'); __import__('os').system('touch /tmp/evil'); ('"
        agent = lines(calls(("walk_to", {"rack": evil, "x=1)+print(": 1})), "Done.")
        run = await played(client, "bfcl_v4_base", "task_0", agent)
        assert (run.outcome, run.success) == ("scored", False)


async def test_both_sides_of_acebench_can_end_a_conversation(tmp_path: Path) -> None:
    power = calls(("switch_power", {"on": True}))
    async with acebench_farm(tmp_path, "multi_turn") as client:
        user = lines("Power on, please.", "user: and then?", "finish conversation")
        agent = lines(power, "agent:On it is.", "And now?", "never said")
        run = await played(client, "acebench_en_multi_turn", "task_0", agent, user)
        assert (run.outcome, seen(run)["process"]) == ("scored", 0.25)
        assert len(agent.seen) == 3
        [told, greeting, own, heard] = user.seen[1]
        assert isinstance(told, Instructions)
        assert told.text.startswith("You own a greenhouse. Switch the power on")
        assert greeting == User("What is there to do?")
        assert (own, heard) == (Instructions("Power on, please."), User("On it is."))
        agent = lines(power, "All is done: finish conversation")
        run = await played(client, "acebench_en_multi_turn", "task_0", agent, lines("Power on."))
        assert (run.outcome, len(agent.seen)) == ("scored", 2)


async def test_a_task_of_acebench_without_a_user_is_answered_the_same_each_time(tmp_path: Path) -> None:
    async with acebench_farm(tmp_path, "multi_step") as client:
        agent = lines("finish conversation", "Which bed?", calls(("switch_power", {"on": True})), "finish conversation")
        run = await played(client, "acebench_en_multi_step", "task_0", agent)
        assert (run.outcome, len(agent.seen)) == ("scored", 4)
        said = [one.text for one in agent.seen[-1] if isinstance(one, User)]
        assert said[1:] == ["Nobody is here to talk to; go on."] * 2
        agent = lines("Which bed?")
        run = await played(client, "acebench_en_multi_step", "task_0", agent)
        assert (run.outcome, run.reward, len(agent.seen)) == ("timeout", 0.0, 20)
