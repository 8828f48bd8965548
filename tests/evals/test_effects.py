"""What each call changed stands beside the call, whatever else the agent said and did."""

from pathlib import Path

from agent_client.model import Reply
from agent_client.play import Limits
from agent_client.trace import ToolCall
from evals.rollout import rollout
from registry.client import FarmClient
from registry.farm import private
from tests.evals.test_rollout import Talker

CALLS = (
    ToolCall.read("a", "price", {"id": "t2", "cents": 250}),
    ToolCall.read("b", "price", "{broken"),
    ToolCall.read("c", "no such tool", {}),
    ToolCall.read("d", "price", {"id": "t9", "cents": 1}),
    ToolCall.read("e", "price", {"id": "t2", "cents": 260}),
)


async def test_each_call_has_the_rows_that_it_changed(shelf: Path) -> None:
    model = Talker(lambda number: Reply(text="Done.") if number else Reply(calls=CALLS))
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        scenario = await farm.scenario("shop", "dearer")
        run = await rollout(farm, scenario, model, limits=Limits(), with_effects=True)
    assert run.effects is not None
    assert [(one.call, one.outcome) for one in run.effects] == [(0, "ok"), (3, "refused"), (4, "ok")]
    [first], [], [last] = [[row for row in one.changes if row.table == "things"] for one in run.effects]
    assert (first.before, first.after) == ({"cents": 200}, {"cents": 250})
    assert (last.before, last.after) == ({"cents": 250}, {"cents": 260})


async def test_digests_and_times_are_in_the_record(shelf: Path) -> None:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        scenario = await farm.scenario("shop", "dearer")
        run = await rollout(farm, scenario, Talker(lambda _: Reply(text="Done.")), limits=Limits())
        environment = await farm.environment("shop")
    assert (run.scenario_digest, run.environment_digest) == (scenario.digest, environment.digest)
    assert run.timings is not None
    assert min(run.timings.launch, run.timings.play, run.timings.score) > 0
    assert run.effects is None
