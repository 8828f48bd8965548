"""The names of the tools of two environments, as an agent and a solution have them.

A tool keeps its name, unless both environments have one of that name: then each is named after its environment too.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from servers.bundle.description import Tool
from servers.errors import BundleError
from servers.scenario.scenario import Scenario, SecondEnvironment, Solution

if TYPE_CHECKING:  # importing it brings the checks of arguments, which no client needs
    from servers.bundle.environment import Environment

LONGEST_NAME = 64
"""Characters of a tool's name that the endpoint of every model takes."""
BETWEEN = "__"


class Route(NamedTuple):
    """Where a call goes: to which of two environments, 0 or 1, and the tool's own name there."""

    at: int
    tool: str


def routes(environments: Sequence[str], tools: Sequence[Sequence[str]]) -> dict[str, Route]:
    """Every tool of two environments by the name that an agent sees, in their order.

    Raises:
        BundleError: two tools would have one name.
    """
    both = set(tools[0]) & set(tools[1])
    found: dict[str, Route] = {}
    for at, (environment, own) in enumerate(zip(environments, tools, strict=True)):
        for tool in own:
            name = named_after(environment, tool) if tool in both else tool
            if name in found:
                raise BundleError(f"second: two tools of {environments[0]} and {environments[1]} would be named {name}")
            found[name] = Route(at, tool)
    return found


def named_after(environment: str, tool: str) -> str:
    """The name of a tool that two environments have. The name of an environment is cut where both are too long."""
    return f"{environment[: max(1, LONGEST_NAME - len(BETWEEN) - len(tool))]}{BETWEEN}{tool}"


def routes_between(first: "Environment", second: "Environment") -> dict[str, Route]:
    """Every tool of two environments by the name that an agent sees."""
    return routes((first.id, second.id), (list(first.tools), list(second.tools)))


def tools_of(first: "Environment", second: "Environment") -> dict[str, Tool]:
    """The tools of two environments by the names that an agent sees."""
    both: tuple[Mapping[str, Tool], ...] = (first.tools, second.tools)
    return {name: both[route.at][route.tool] for name, route in routes_between(first, second).items()}


def second_side(scenario: Scenario, second: SecondEnvironment, solution: Solution | None = None) -> Scenario:
    """The part of a scenario that its second environment judges, as a scenario of that environment."""
    return Scenario(
        id=scenario.id,
        title=scenario.title,
        task=scenario.task,
        persona=scenario.persona,
        setup=second.setup,
        clock=second.clock,
        checkpoints=second.checkpoints,
        solution=solution,
    )


def first_side(scenario: Scenario, solution: Solution | None = None) -> Scenario:
    """The part of a scenario that its first environment judges."""
    return scenario.model_copy(update={"second": None, "solution": solution, "certificate": None, "witness": None})
