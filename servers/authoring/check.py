"""All findings about a bundle: those of its text, and those of a guest that loads it."""

from contextlib import closing
from pathlib import Path

from pydantic import ValidationError

from servers.authoring.checkpoint_findings import question_findings, text_findings
from servers.authoring.proof import proof_findings
from servers.authoring.second_environment import second_findings
from servers.authoring.solution_references import reference_findings
from servers.bundle.card import hidden_in
from servers.bundle.description import Tool
from servers.bundle.environment import Environment, read_environment, tool_problems
from servers.bundle.examples import example_findings
from servers.bundle.files import PACKAGED, name_in_commands, text_of
from servers.bundle.paraphrases import paraphrase_findings
from servers.bundle.phrases import read_phrases
from servers.bundle.rules import RULES_FILE, load_rules, rule_findings
from servers.errors import BundleError, GuestDied, GuestLate
from servers.guest.sqlite.image import Image
from servers.records import Record
from servers.sandbox.guest_pool import START_SECONDS, Guests
from servers.sandbox.source_inspection import (
    SourceText,
    function_findings,
    gate_of,
    inspected,
)
from servers.scenario.checkpoints.kinds import Checkpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, read_scenarios
from servers.state.readonly_query import Reader
from servers.state.start_images import built
from servers.text.wording import counted, noun, without_middle
from servers.validation import first_problem

SHOWN = 3
"""The most names in one finding."""
LONGEST_FINDING = 2_000
"""Characters of a finding. A longer one, which quotes much, is told without its middle."""


class _Described(Record):
    """A guest's description of the loaded tools. The guest has run them, so its answer is checked like any other."""

    tools: tuple[Tool, ...] = ()
    findings: tuple[str, ...] = ()


async def findings(folder: Path, guests: Guests, *, library: Path | None = None) -> list[str]:
    """All findings, the text's first. Empty if the bundle can be served and its scenarios started.

    A scenario's second environment stands in the folder `library`, by default beside the bundle.
    """
    environment, found = await environment_findings(folder, guests)
    wrong, scenarios = read_scenarios(folder, environment)
    found += wrong
    found += await _checkpoint_findings(folder, environment, scenarios, guests)
    if environment is not None:
        found += read_phrases(folder, environment)[0]
        found += paraphrase_findings(environment, [one.id for one in scenarios])
        found += [
            f"{folder / 'scenarios.jsonl'}: scenario {scenario.id!r}: {why}"
            for scenario in scenarios
            if scenario.second is None
            for why in reference_findings(scenario, environment.tools)
        ]
        found += await second_findings(environment, scenarios, guests, library or folder.parent)
        found += _certificate_findings(environment, scenarios)
        found += proof_findings(folder)
        found += await _start_findings(environment, scenarios, guests)
    return [without_middle(one, LONGEST_FINDING) for one in found]


async def environment_findings(folder: Path, guests: Guests) -> tuple[Environment | None, list[str]]:
    """The environment of a bundle, if it can be read, and all findings except those about scenarios."""
    found, environment = read_environment(folder)
    if environment is None:
        return None, found
    guests.expect(environment)
    [inspection] = await inspected([SourceText(environment.source, gate_of(environment))], guests)
    found += function_findings(environment, inspection)
    found += [f"{folder / 'tools.py'}: {problem}" for problem in inspection.problems]
    found += rule_findings(folder, policy=environment.policy, schema=environment.schema, source=environment.source)
    found += example_findings(folder, environment.tools)
    if inspection.not_python is None:
        found += [] if environment.description.benchmark else await _tool_findings(environment, guests)
        image, wrong = await built(environment, "", environment.description.clock, guests)
        found += [f"{folder}: {wrong}"] if wrong else _query_findings(folder, image)
    return environment, found


def _query_findings(folder: Path, image: Image) -> list[str]:
    """The queries of rules.json that cannot run on the environment's rows."""
    try:
        rules = [rule for rule in load_rules(folder) if rule.never]
    except BundleError:
        return []  # that has been found by its text
    with closing(Reader(image, image)) as reader:
        found = [(rule.id, reader.finding(rule.never)) for rule in rules if rule.never]
    return [f"{folder / RULES_FILE}: {rule}.never: {why}" for rule, why in found if why]


async def _checkpoint_findings(
    folder: Path, environment: Environment | None, scenarios: list[Scenario], guests: Guests
) -> list[str]:
    """Findings about the Python of checkpoints."""
    is_imported = environment is not None and environment.description.imported is not None
    found = await text_findings(scenarios, guests, is_imported=is_imported)
    return [f"{_place(folder, scenario, one)}: {problem}" for scenario, one, problem in found]


def advice(environment: Environment, scenarios: list[Scenario]) -> list[str]:
    """Advice about what is allowed but could be better: a duplicate id, checkpoints over an answer's words.

    Imported environments keep the checkpoints that they came with.
    """
    hidden = hidden_in((environment.folder.parent, PACKAGED))
    found = [line for line in hidden if line.startswith(f"{environment.folder.name}: ")]
    if environment.description.imported is not None:
        return found
    return found + [
        f"{_place(environment.folder, scenario, checkpoint)}: looks for words in the answer; "
        "a checkpoint of kind `answer` looks for the fact (docs/reference/answers.md)"
        for scenario in scenarios
        for checkpoint in scenario.checkpoints
        if checkpoint.looks_for_words()
    ]


def _place(folder: Path, scenario: Scenario, checkpoint: Checkpoint) -> str:
    return f"{folder / 'scenarios.jsonl'}: scenario {scenario.id!r}: checkpoints.{checkpoint.id}"


def _certificate_findings(environment: Environment, scenarios: list[Scenario]) -> list[str]:
    """A line about certificates that are out of date."""
    kept = [one for one in scenarios if one.certificate is not None]
    outdated = [one.id for one in kept if not is_current(environment, one)]
    if not outdated:
        return []
    folder = environment.folder
    named = ", ".join(outdated[:SHOWN]) + (", …" if len(outdated) > SHOWN else "")
    told = f"{len(outdated)} of {counted(len(kept), 'certificate')} {noun(len(outdated), 'is', 'are')} out of date"
    return [
        f"{folder / 'scenarios.jsonl'}: {told} ({named}): the scenario, its environment or the judge "
        f"has changed since; `farm certify {name_in_commands(folder)} --stale --write` renews what is out of date"
    ]


async def derived(folder: Path, guests: Guests) -> list[Tool]:
    """The tool schemas that follow from the signatures and docstrings of `tools.py`.

    Raises:
        BundleError: no valid schema follows from a signature or docstring.
    """
    described = await _described(text_of(folder / "tools.py").encode(), guests)
    wrong = [*described.findings, *(f"tools.py: {one}" for tool in described.tools for one in tool_problems(tool))]
    if wrong:
        raise BundleError("\n".join(f"{folder}: {finding}" for finding in wrong))
    return list(described.tools)


async def _tool_findings(environment: Environment, guests: Guests) -> list[str]:
    """The differences between the derived tool schemas and environment.json."""
    described = await _described(environment.source.encode(), guests)
    wrong = [f"{environment.folder}: {finding}" for finding in described.findings]
    path = environment.folder / "environment.json"
    imported = environment.description.imported
    kept = imported is not None and imported.schemas == "kept"
    compared = ("writes",) if kept else ("description", "arguments", "result", "writes")
    for told in described.tools:
        declared = environment.tools.get(told.name)
        if declared is None:
            continue
        wrong += [
            f"{path}: tools.{declared.name}.{field}: is not what tools.py says; "
            f"`farm derive {name_in_commands(environment.folder)} --write` brings it up to date"
            for field in compared
            if getattr(told, field) != getattr(declared, field)
        ]
    return wrong


async def _described(source: bytes, guests: Guests) -> _Described:
    try:
        head, _ = await guests.job({"do": "describe"}, source, seconds=START_SECONDS)
        return _Described.model_validate(head)
    except GuestLate:
        return _Described(findings=(f"tools.py: takes more than {START_SECONDS:g} s to load",))
    except GuestDied:
        return _Described(findings=("tools.py: the process ended while it was loaded",))
    except ValidationError as error:
        return _Described(findings=(f"tools.py: tells of itself what is no tool: {first_problem(error)}"[:500],))


async def _start_findings(environment: Environment, scenarios: list[Scenario], guests: Guests) -> list[str]:
    """Run every setup, and ask every checkpoint about its state.

    Empty if the environment itself does not start, which is another finding.
    """
    if (await built(environment, "", environment.description.clock, guests))[1]:
        return []
    found: list[str] = []
    for scenario in scenarios:
        clock = scenario.clock or environment.description.clock
        image, wrong = await built(environment, scenario.setup, clock, guests)
        if wrong:
            found.append(f"{environment.folder / 'scenarios.jsonl'}: scenario {scenario.id!r}: {wrong}")
            continue
        wrong_questions = await question_findings(image, scenario, clock, guests)
        found += [f"{_place(environment.folder, scenario, one)}: {why}" for one, why in wrong_questions]
    return found
