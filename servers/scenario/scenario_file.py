"""The scenarios of a bundle: `scenarios.jsonl`, read line by line. Only the registry and the judge read it."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from pydantic import ValidationError

from servers.answer import JUDGE_VERSION
from servers.bundle.description import Tool
from servers.bundle.environment import MOST_FINDINGS, Environment, digest_of_bundle, file_problems
from servers.bundle.files import opened
from servers.errors import BundleError
from servers.limits.json_size import refuse_key_twice, refuse_many_values, refuse_odd_numbers
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario, SecondEnvironment

LARGEST_LINE = 1024 * 1024
"""Characters of one scenario: a line is read at once."""
SHORT_LINE = 16 * 1024
"""Bytes of a scenario that an event loop parses by itself."""
BYTES_PER_LINE = 230
"""Memory of a kept line, beside its text."""
MOST_LINES = 100_000
"""Lines of `scenarios.jsonl`, blank ones included."""


def load_scenarios(environment: Environment) -> dict[str, Scenario]:
    """Read the scenarios of a bundle, by id.

    Raises:
        BundleError: the first fault, with file, line and field.
    """
    findings, scenarios = read_scenarios(environment.folder, environment)
    if findings:
        raise BundleError(findings[0])
    return {scenario.id: scenario for scenario in scenarios}


class ScenarioLines(Mapping[str, Scenario]):
    """The scenarios of a bundle by id, each kept as its line and parsed when it is asked for.

    Parsed ones take up to 40 times the memory of their text, and a moment of everybody to free them together.
    """

    def __init__(self, lines: dict[str, bytes]) -> None:
        self._lines = lines
        self.memory = sum(len(line) + BYTES_PER_LINE for line in lines.values())

    def is_short(self, scenario_id: str) -> bool:
        """True if there is such a scenario, and parsing it takes a fraction of a millisecond."""
        line = self._lines.get(scenario_id)
        return line is not None and len(line) <= SHORT_LINE

    def __getitem__(self, scenario_id: str) -> Scenario:
        return Scenario.model_validate_json(self._lines[scenario_id])

    def __contains__(self, scenario_id: object) -> bool:
        return scenario_id in self._lines

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)


def load_lines(environment: Environment) -> ScenarioLines:
    """The same as `load_scenarios`, for a server that keeps the scenarios of many bundles. Raises likewise."""
    findings: list[str] = []
    scanned = _scanned(environment.folder, environment, findings)
    lines = {scenario.id: line.encode() for line, scenario in scanned}
    if findings:
        raise BundleError(findings[0])
    return ScenarioLines(lines)


def read_scenarios(folder: Path, environment: Environment | None) -> tuple[list[str], list[Scenario]]:
    """The findings, and the scenarios that can be read."""
    findings: list[str] = []
    scenarios = [scenario for _, scenario in _scanned(folder, environment, findings)]
    return findings, scenarios


def _scanned(folder: Path, environment: Environment | None, findings: list[str]) -> Iterator[tuple[str, Scenario]]:
    """Each line that is a scenario, with it. Adds what is wrong with the others, and between them, to `findings`."""
    path = folder / "scenarios.jsonl"
    try:
        text = _text_of_scenarios(folder)
    except BundleError as error:
        findings.append(str(error))
        return
    seen: set[str] = set()
    for number, line in enumerate(_lines(text), start=1):
        if not line.strip():
            continue
        if len(findings) >= MOST_FINDINGS:
            findings.append(f"{path}: line {number}: there is more; this is where reading stopped")
            break
        if len(line) > LARGEST_LINE:
            findings.append(f"{path}: line {number}: longer than {LARGEST_LINE // 1024} KiB")
            continue
        try:
            refuse_many_values(f"{path}: line {number}", line)
            refuse_odd_numbers(f"{path}: line {number}", line)
            refuse_key_twice(f"{path}: line {number}", line)
            scenario = Scenario.model_validate_json(line)
        except BundleError as error:
            findings.append(str(error))
            continue
        except ValidationError as error:
            findings += file_problems(path, error, line=number)
            continue
        where = f"{path}: line {number}: scenario {scenario.id!r}"
        if scenario.id in seen:
            findings.append(f"{where}: id: used by an earlier line too")
        seen.add(scenario.id)
        if environment is not None:
            findings += [f"{where}: {problem}" for problem in reference_problems(scenario, environment)]
        yield line, scenario


def _text_of_scenarios(folder: Path) -> str:
    with opened(folder) as files:
        text = files.text("scenarios.jsonl")
    if text.count("\n") > MOST_LINES:
        raise BundleError(f"{folder / 'scenarios.jsonl'}: more than {MOST_LINES:,} lines")
    return text


def lines_of(scenarios: Iterable[Scenario]) -> str:
    """Scenarios as the text of a `scenarios.jsonl`."""
    return "".join(f"{one.model_dump_json(exclude_none=True)}\n" for one in scenarios)


def _lines(text: str) -> Iterator[str]:
    """The lines of a text, one at a time: a list of millions of them would take more memory than the text."""
    begin = 0
    while (end := text.find("\n", begin)) >= 0:
        yield text[begin:end]
        begin = end + 1
    yield text[begin:]


def reference_problems(scenario: Scenario, environment: Environment) -> Iterator[str]:
    """The tools and tables in a scenario that its environment does not have."""
    if scenario.second is None:  # else its calls name the tools of two environments
        yield from call_problems(scenario, environment.tools)
    for checkpoint in scenario.questions:
        yield from (f"checkpoints.{checkpoint.id}: {why}" for why in checkpoint.unknown_names(environment.tables))


def call_problems(scenario: Scenario, tools: Mapping[str, Tool]) -> Iterator[str]:
    """The tools and arguments in a solution that are not among some tools."""
    for number, call in enumerate(scenario.solution.calls if scenario.solution else (), start=1):
        tool = tools.get(call.tool)
        if tool is None:
            yield f"solution.calls.{number}: no tool named {call.tool!r}"
            continue
        unknown = sorted(call.arguments.keys() - tool.properties.keys())
        if unknown:
            yield f"solution.calls.{number}: {call.tool} has no argument {', '.join(map(repr, unknown))}"
        open_to_none = sorted(set(call.free) - call.arguments.keys())
        if open_to_none:
            yield f"solution.calls.{number}.free: this call gives no {', '.join(map(repr, open_to_none))}"


def digest_of(environment: Environment, scenario: Scenario) -> str:
    """The digest of environment and scenario that a certificate stores."""
    told = scenario.model_dump_json(exclude={"certificate", "provenance"}, exclude_defaults=True)
    text = f"{environment.digest}\n{told}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_current(environment: Environment, scenario: Scenario) -> bool:
    """True if a scenario has a certificate for its present text, environment and judge.

    The judge of answers plays no part where no answer is judged.
    """
    kept = scenario.certificate
    is_judged = any(isinstance(one, AnswerCheckpoint) for one in scenario.checkpoints)
    return (
        kept is not None
        and (kept.judge == JUDGE_VERSION or not is_judged)
        and kept.digest == digest_of(environment, scenario)
        and (scenario.second is None or kept.second == digest_of_bundle(second_folder(environment, scenario.second)))
    )


def second_folder(environment: Environment, second: SecondEnvironment) -> Path:
    """The folder of a second environment: beside that of the first."""
    return environment.folder.parent / second.environment
