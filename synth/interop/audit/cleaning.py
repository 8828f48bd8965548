"""Checks of an imported scenario made worth more, by what its audit saw.

EnvScaler's format knows goals alone. So a check that holds before any call pays for nothing, and nothing says that
other rows must stay as they are.
"""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from servers.scenario.checkpoints.footprint import Allowance, FootprintCheckpoint
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario
from servers.state.rows import RowChange, RowOperation
from servers.text.wording import counted
from synth.interop.audit.audit import CheckAudit

CLEANED = "cleaned"
"""The tag of a cleaned scenario."""


class Cleaning(NamedTuple):
    """A cleaned scenario and what was done to it. Without a scenario: why it was left out."""

    scenario: Scenario | None
    done: tuple[str, ...]


def cleaned(scenario: Scenario, checks: Sequence[CheckAudit], changes: Sequence[RowChange]) -> Cleaning:
    """Checks that hold at the start become guards; those that raise there and never held are dropped.

    `changes` are those of a witness, whose tables, operations and numbers of rows become the footprint. Without any
    there is no footprint.
    """
    told = {check.id: check for check in checks}
    kept: list[Checkpoint] = []
    for one in scenario.checkpoints:
        check = told.get(one.id)
        if check is None:
            kept.append(one)
            continue
        if check.error_at_start and not check.reached:
            continue
        kept.append(one.model_copy(update={"role": "guard"}) if check.at_start else one)
    done = [*_done(len(scenario.checkpoints) - len(kept), "raised at the start and never held: dropped")]
    done += _done(sum(check.at_start for check in checks), "held at the start: guards now")
    if not any(one.role == "goal" for one in kept):
        return Cleaning(None, (*done, "left out: no goal is left"))
    if changes:
        kept.append(footprint_of(changes))
        done.append(f"nothing else may change than {counted(len(changes), 'row')}")
    else:
        done.append("no footprint: no calls are known that earn 1")
    tags = tuple(dict.fromkeys((*scenario.tags, CLEANED)))
    return Cleaning(scenario.model_copy(update={"checkpoints": tuple(kept), "tags": tags}), tuple(done))


def _done(count: int, what: str) -> list[str]:
    return [f"{counted(count, 'check')} that {what}"] if count else []


def footprint_of(changes: Sequence[RowChange]) -> FootprintCheckpoint:
    """As many rows of the same tables may be added, changed or deleted."""
    rows: Counter[tuple[str, RowOperation]] = Counter((change.table, change.operation) for change in changes)
    return FootprintCheckpoint(
        id="nothing_else",
        role="guard",
        question="Has nothing else changed?",
        kind="footprint",
        allow=tuple(Allowance(table=table, operation=how, rows=count) for (table, how), count in rows.items()),
    )
