"""The audit of Agent World Model's environments: which endpoints work, and what their verifiers are worth."""

from pathlib import Path

from synth.interop.audit.audit import EnvironmentAudit, environment_audit, orders_of
from synth.interop.audit.audit_job import Auditing
from synth.interop.audit.audit_table import sums_of
from tests.synth.interop.awm_rows import BOUGHT, verifier
from tests.synth.interop.test_awm import imported

ALWAYS = verifier("return {'result': 'complete'}")
NEVER = verifier("return {'result': 'others'}")


async def test_an_audit_names_what_works_what_rewards_nothing_and_what_never_says_complete(tmp_path: Path) -> None:
    await imported(tmp_path, BOUGHT, ALWAYS, NEVER)
    folder = tmp_path / "out" / "shop_1"
    orders = orders_of(folder)
    assert not isinstance(orders, EnvironmentAudit)
    async with Auditing(walks=6).open() as audit:
        told = environment_audit(folder, [await audit(order) for order in orders])
    assert told.is_whole
    tools = {one.name: one for one in told.tools}
    assert {name for name, one in tools.items() if not one.succeeded} == {"broken", "remember", "wait"}
    assert "ZeroDivisionError" in tools["broken"].error
    assert all(one.tries and one.repeats for one in told.tools)
    scenarios = {one.id: one for one in told.scenarios}
    bought, always, never = (scenarios[f"task_{number}"] for number in range(3))
    assert bought.witness is not None
    assert [call.tool for call in bought.witness.calls][-1] == "add_to_cart"
    assert "90" in bought.witness.answer
    assert (always.reward_for_nothing, bought.reward_for_nothing, never.reward_for_nothing) == (1.0, 0.0, 0.0)
    assert ([one.reached for one in never.checks], never.witness) == ([False], None)
    assert any(line.startswith("scenarios that reward doing nothing: 1 of 3 (33%)") for line in sums_of([told]))
