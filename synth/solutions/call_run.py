"""Plays the calls of a solution, also with some left out, repeated, changed or swapped."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from agent_client.errors import AgentError
from agent_client.references import resolve
from agent_client.trace import ToolResult
from servers.errors import BundleError
from servers.scenario.scenario import Solution
from servers.state.rows import RowChange
from servers.worker.instance import CallOutcome
from synth.play.playground import Session


class PlannedStep(NamedTuple):
    """One call to make. `number` is its position in the solution, from 1, or 0 for an additional call."""

    number: int
    tool: str
    arguments: dict[str, Any]
    free: tuple[str, ...] = ()


class PlayedCall(NamedTuple):
    """One call that was made, with its references resolved."""

    step: PlannedStep
    arguments: dict[str, Any]
    outcome: CallOutcome
    changes: list[RowChange]

    @property
    def result(self) -> ToolResult:
        """The agent's result."""
        return ToolResult(
            text=self.outcome.text, structured=self.outcome.structured, is_error=self.outcome.kind != "ok"
        )

    def told(self) -> dict[str, Any]:
        """The call as a Python checkpoint sees it."""
        return {"tool": self.step.tool, "arguments": self.arguments, "outcome": self.outcome.kind}


NOTHING = PlannedStep(0, "-", {})
"""A placeholder for a call that is left out, so that later ones have the same time and ids."""


def steps_of(solution: Solution) -> list[PlannedStep]:
    """The calls of a solution."""
    return [
        PlannedStep(number, call.tool, call.arguments, call.free) for number, call in enumerate(solution.calls, start=1)
    ]


async def play(scene: Session, steps: Sequence[PlannedStep], known: Sequence[ToolResult] = ()) -> list[PlayedCall]:
    """Make calls. A reference resolves to this run's result, or to a `known` one.

    Raises:
        BundleError: a reference leads nowhere.
    """
    results = list(known)
    made: list[PlayedCall] = []
    for step in steps:
        arguments = _resolved(step, results, known)
        outcome = await scene.call(step.tool, arguments)
        one = PlayedCall(step, arguments, outcome, scene.changed(outcome) if outcome.changes else [])
        made.append(one)
        if step.number > len(results):
            results.append(one.result)
        elif step.number and outcome.kind == "ok":
            results[step.number - 1] = one.result
    return made


def _resolved(step: PlannedStep, results: Sequence[ToolResult], known: Sequence[ToolResult]) -> dict[str, Any]:
    """A step's arguments, from this run's results, or else from the known ones."""
    for found in (results, known):
        try:
            return resolve(step.arguments, found)
        except AgentError as error:
            if found is known or not known:
                raise BundleError(f"solution.calls.{step.number}: {error}") from None
    return step.arguments


def results_of(made: Sequence[PlayedCall], known: Sequence[ToolResult] = ()) -> list[ToolResult]:
    """The results by position in the solution. A call that was not made, or failed, keeps the known one."""
    results = list(known)
    for one in made:
        if one.step.number > len(results):
            results.append(one.result)
        elif one.step.number and one.outcome.kind == "ok":
            results[one.step.number - 1] = one.result
    return results
