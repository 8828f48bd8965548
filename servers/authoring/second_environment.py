"""Findings about scenarios over two environments: the second one, its start, its checkpoints, and the calls of both."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from servers.authoring.checkpoint_findings import question_findings, text_findings
from servers.authoring.solution_references import reference_findings
from servers.bundle.environment import Environment, load
from servers.errors import BundleError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import call_problems, reference_problems
from servers.scenario.two_environments import second_side, tools_of
from servers.state.start_images import built


async def second_findings(
    first: Environment, scenarios: Sequence[Scenario], guests: Guests, library: Path
) -> list[str]:
    """All findings about the scenarios of an environment that have a second one, which stands in a folder."""
    found: list[str] = []
    known: dict[str, Environment | str] = {}
    for scenario in scenarios:
        if scenario.second is None:
            continue
        name = scenario.second.environment
        second = known.setdefault(name, known.get(name) or _read(library, first, name))
        side = second_side(scenario, scenario.second)
        wrong = [second] if isinstance(second, str) else await _findings(scenario, side, first, second, guests)
        where = f"{first.folder / 'scenarios.jsonl'}: scenario {scenario.id!r}"
        found += [f"{where}: {one}" for one in wrong]
    return found


def _read(library: Path, first: Environment, name: str) -> Environment | str:
    """A second environment, or why there is none."""
    if name == first.id:
        return "second.environment: is the first one; two instances of one environment are not supported"
    if not (library / name / "environment.json").is_file():
        return f"second.environment: there is no environment {name!r} in {library}; it stands beside the first one"
    try:
        return load(library / name)
    except BundleError as error:
        return f"second.environment: {error}"


async def _findings(
    scenario: Scenario, side: Scenario, first: Environment, second: Environment, guests: Guests
) -> list[str]:
    """What is wrong with the calls of a scenario, and with its second start and checkpoints."""
    found = [*_text_findings(scenario, side, first, second)]
    is_imported = second.description.imported is not None
    found += [
        f"second.checkpoints.{one.id}: {why}"
        for _, one, why in await text_findings([side], guests, is_imported=is_imported)
    ]
    clock = side.clock or second.description.clock
    image, wrong = await built(second, side.setup, clock, guests)
    if wrong:
        return [*found, f"second: {wrong}"]
    return found + [
        f"second.checkpoints.{one.id}: {why}" for one, why in await question_findings(image, side, clock, guests)
    ]


def _text_findings(scenario: Scenario, side: Scenario, first: Environment, second: Environment) -> Iterator[str]:
    try:
        tools = tools_of(first, second)
    except BundleError as error:
        yield str(error)
        return
    yield from call_problems(scenario, tools)
    yield from reference_findings(scenario, tools)
    yield from (f"second.{problem}" for problem in reference_problems(side, second))
