"""Findings about checkpoints that could never be answered, for `farm check` and `farm certify`.

Each kind of checkpoint finds its own faults.
"""

from collections.abc import Sequence

from servers.errors import FarmError
from servers.guest.sqlite.image import Image
from servers.sandbox.guest_pool import Guests
from servers.sandbox.source_inspection import GateName, SourceText, inspected
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario
from servers.state.readonly_query import Reader


async def text_findings(
    scenarios: Sequence[Scenario], guests: Guests, *, is_imported: bool
) -> list[tuple[Scenario, Checkpoint, str]]:
    """The checkpoints whose text is not Python or contains something forbidden, with each reason."""
    gate: GateName = "imported" if is_imported else "checkpoint"
    return [
        (scenario, one, problem)
        for scenario in scenarios
        for one in scenario.questions
        for text in one.sources()
        for problem in await _source_findings(SourceText(text, gate), guests)
    ]


async def _source_findings(source: SourceText, guests: Guests) -> Sequence[str]:
    [inspection] = await inspected([source], guests)
    return (inspection.not_python,) if inspection.not_python else inspection.problems


async def question_findings(
    image: Image, scenario: Scenario, clock: str, guests: Guests
) -> list[tuple[Checkpoint, str]]:
    """The checkpoints of a scenario that cannot be answered on its start image, with the reason."""
    try:
        reader = Reader(image, image)
    except FarmError as error:
        return [(one, str(error)) for one in scenario.questions]
    try:
        found = [(one, why) for one in scenario.questions for why in one.state_findings(reader)]
    finally:
        reader.close()
    found += [(one, why) for one in scenario.questions for why in await one.run_findings(image, clock, guests)]
    return found
