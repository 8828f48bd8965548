"""Reference solutions as an agent makes them on perturbed tools: other names, other places in results."""

from typing import Any

from agent_client.json_values import with_texts
from agent_client.references import REFERENCE
from evals.runs.records import Subject
from registry.client import FarmClient
from servers.perturb.perturbation import perturbation_of
from servers.perturb.tool_view import ToolView, view_of
from servers.scenario.scenario import PlannedCall, Solution


async def view_at(farm: FarmClient, environment: str, perturb: str) -> ToolView | None:
    """How a perturbation shows an environment's own tools. None if nothing is perturbed.

    Raises:
        RequestError: it makes two tools collide.
    """
    if not perturb:
        return None
    return view_of((await farm.environment(environment)).tools, perturbation_of(perturb))


def seen_solution(solution: Solution, view: ToolView | None) -> Solution:
    """A solution in the names that an agent sees, with references to where it finds their values."""
    if view is None:
        return solution
    calls: list[PlannedCall] = []
    for call in solution.calls:
        tool, arguments = view.seen_call(call.tool, _seen_value(call.arguments, view))
        names = view.arguments.get(call.tool, {})
        calls.append(PlannedCall(tool=tool, arguments=arguments, free=tuple(names.get(one, one) for one in call.free)))
    return Solution(calls=tuple(calls), answer=_seen_value(solution.answer, view))


def seen_subject(subject: Subject, view: ToolView | None) -> Subject:
    """A subject whose solution and writing tools are as an agent sees them."""
    scenario = subject.detail.scenario
    if view is None or scenario.solution is None:
        return subject
    seen = scenario.model_copy(update={"solution": seen_solution(scenario.solution, view)})
    writers = tuple(view.names.get(tool, tool) for tool in subject.writers)
    return subject.model_copy(
        update={"detail": subject.detail.model_copy(update={"scenario": seen}), "writers": writers}
    )


def _seen_value(value: Any, view: ToolView) -> Any:
    """A value with its references at any depth."""
    return with_texts(
        value, lambda text: REFERENCE.sub(lambda found: f"${{{found[1]}{view.seen_path(found[2])}}}", text)
    )
