"""A run that retells the walks of an environment, some ten tasks a request. What passes is certified and written."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from agent_client.references import REFERENCE
from servers.bundle.description import Provenance
from servers.errors import NotFound
from servers.files.atomic_write import write_whole
from servers.files.named_file import bytes_named
from servers.records import Record
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.certify.certificates import write_certificate, write_scenario
from synth.certify.certifier import examine
from synth.llm.prompt import Prompt
from synth.llm.writer import Writer, WriterMessage
from synth.pipeline.asker import Asker, Rejected, WriterExchange, gather_all
from synth.play.playground import Playground
from synth.retelling.retelling_gate import Gate, Original, signed, unmarked
from synth.retelling.spoken_values import RowNames
from synth.retelling.task_parts import TaskParts, parts_of
from synth.solutions.plausible_values import enum_of
from synth.solutions.reference_run import ReferenceRun, played
from synth.solutions.value_texts import said

FIRST = Prompt.load(Path(__file__).with_name("retell.md"))
SECOND = Prompt.load(Path(__file__).with_name("retell_again.md"))
SOURCE = "made of calls by a program, told by a writer"
NOT_WALKS = ("conversation", "recipe")
REPORTS_OF_FOUR = 1
"""Of four tasks whose answer is judged and in which nothing needs a reason, those that ask for one all the same."""
MANNERS = (
    "short, two or three sentences, no greeting",
    "friendly and a little chatty, with why it comes up now",
    "in a hurry, typed between two things",
    "polite and complete, like a letter",
    "begins with what happened, comes to the point in the second sentence",
    "matter-of-fact, one paragraph, the reason in half a sentence",
    "warm, to somebody one knows well",
    "plain, a colleague at work",
)


class RetoldText(Record):
    """A task in new words, with the marks of its parts."""

    id: str
    text: str


class RetoldBatch(Record):
    """The answer to one request: a text for each task."""

    retold: tuple[RetoldText, ...]


class ToldAnew(Record):
    """The tasks that a run has told again although they had been retold before."""

    names: tuple[str, ...] = ()


class RefusedTwice(Record):
    """The tasks whose retellings were refused twice, with the reasons. They are not asked for again."""

    reasons: dict[str, tuple[str, ...]] = {}


@dataclass
class RetellOutcome:
    """What became of the tasks of an environment."""

    environment: str
    wanted: int = 0
    there: int = 0
    """Retold before."""
    accepted: list[str] = field(default_factory=list[str])
    refused: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    first_refused: int = 0
    left_out: list[str] = field(default_factory=list[str])
    """Tasks whose parts cannot be told apart."""
    exchanges: list[WriterExchange] = field(default_factory=list[WriterExchange])


@dataclass(frozen=True)
class _Task:
    scenario: Scenario
    told: Original
    text: str = ""
    reasons: tuple[str, ...] = ()


@dataclass
class Retelling:
    """One environment that is retold. Its playground must be entered."""

    bundle: Playground
    work: Path
    writer: Writer
    batch: int = 10
    again: bool = False
    anew: bool = False
    """True if what was retold before is retold too, from its first wording."""
    on_task: Callable[[RetellOutcome], None] = lambda _: None

    async def run(self, only: Sequence[str] = (), most: int | None = None) -> RetellOutcome:
        """Retell the walks of the environment, or some of them.

        Raises:
            NotFound: a named scenario does not exist.
            WriterError: there is no answer. What was accepted before is written.
        """
        environment = self.bundle.environment
        outcome = RetellOutcome(environment.id)
        given_up = {} if self.again else self._given_up().reasons
        every = list(self._walks(only))[:most]
        outcome.wanted = len(every)
        gate: Gate | None = None
        chunks: list[list[_Task]] = []
        anew = set(self._told_anew().names)
        for number, scenario in enumerate(every):
            if number % self.batch == 0:
                chunks.append([])
            first = scenario.provenance.first_wording if scenario.provenance else None
            if first is not None and (not self.anew or scenario.id in anew):
                outcome.there += 1
            elif scenario.id in given_up:
                outcome.refused[scenario.id] = given_up[scenario.id]
            else:
                as_first = scenario.model_copy(update={"task": first}) if first is not None else scenario
                reference = await played(self.bundle, as_first)
                await reference.close()
                gate = gate or self._gate(reference)
                told = _original(reference)
                if told is None:
                    outcome.left_out.append(scenario.id)
                else:
                    chunks[-1].append(_Task(as_first, told))
        self.on_task(outcome)
        if gate is not None:
            refused = await gather_all(self._asked(one, gate, FIRST, outcome) for one in chunks if one)
            tasks = [task for one in refused for task in one]
            outcome.first_refused = len(tasks)
            second = [tasks[at : at + self.batch] for at in range(0, len(tasks), self.batch)]
            for group in await gather_all(self._asked(one, gate, SECOND, outcome) for one in second):
                for task in group:
                    outcome.refused[task.scenario.id] = task.reasons
                    self.on_task(outcome)
        self._give_up(outcome)
        return outcome

    def _walks(self, only: Sequence[str]) -> Iterator[Scenario]:
        every = load_scenarios(self.bundle.environment)
        for name in only:
            if name not in every:
                known = self.bundle.environment.id
                raise NotFound(f"{known} has no scenario {name!r}; `farm scenarios {known}` lists them")
        for one in [every[name] for name in only] or every.values():
            retold = one.provenance is not None and one.provenance.first_wording is not None
            fit = "backward" in one.tags and not set(NOT_WALKS) & set(one.tags)
            if fit and (retold or is_current(self.bundle.environment, one)):
                yield one

    def _gate(self, reference: ReferenceRun) -> Gate:
        environment = self.bundle.environment
        choices = [
            value
            for tool in environment.tools.values()
            for schema in tool.properties.values()
            for value in enum_of(schema)
        ]
        return Gate(environment, reference.phrases, reference.rows, RowNames.of(reference.rows, choices))

    async def _asked(self, tasks: Sequence[_Task], gate: Gate, prompt: Prompt, outcome: RetellOutcome) -> list[_Task]:
        """Ask for some retellings, and write those that pass. Returns the others with the reasons."""
        left = {task.scenario.id: task for task in tasks}
        asker = Asker(
            self.writer,
            environment=self.bundle.environment.id,
            stage="retell" if prompt is FIRST else "retell_again",
            on_exchange=outcome.exchanges.append,
        )
        messages = self._messages(prompt, tasks)

        async def accept(answer: RetoldBatch) -> list[str]:
            found: list[str] = []
            texts = {one.id: one.text for one in answer.retold}
            for name, task in list(left.items()):
                scenario, reasons = await self._judged(task, texts.get(name, ""), gate, messages)
                if scenario is not None:
                    self._write(scenario)
                    self._keep_anew(name)
                    del left[name]
                    outcome.accepted.append(name)
                    self.on_task(outcome)
                else:
                    left[name] = replace(task, text=texts.get(name, ""), reasons=tuple(reasons))
                    found += [f"{name}: {reason}" for reason in reasons]
            return found

        try:
            await asker.ask(messages, RetoldBatch, accept, attempts=1)
        except Rejected as error:
            left = {name: one if one.reasons else replace(one, reasons=error.reasons) for name, one in left.items()}
        models = {exchange.model for exchange in asker.exchanges}
        self._sign(tasks, left, models)
        return list(left.values())

    async def _judged(
        self, task: _Task, text: str, gate: Gate, messages: Sequence[WriterMessage]
    ) -> tuple[Scenario | None, list[str]]:
        """The certified scenario in new words, or the reasons why it is refused."""
        if not text:
            return None, ["there is no text for it"]
        reasons = gate.findings(task.told, text)
        if reasons:
            return None, reasons
        scenario = task.scenario.model_copy(
            update={"task": unmarked(text), "certificate": None, "provenance": _provenance(task.scenario, messages)}
        )
        before = task.scenario.certificate
        seen = await examine(self.bundle, scenario)
        if seen.certificate is None:
            return None, seen.findings
        lost = set(before.told if before else ()) - set(seen.certificate.told)
        if lost:
            return None, [f"{place} is no longer told" for place in sorted(lost)]
        if before is not None and len(seen.certificate.survivors) > len(before.survivors):
            return None, [
                f"{seen.certificate.survivors[-1].mutant} passes now: it asks for something that nobody judges"
            ]
        return scenario.model_copy(update={"certificate": seen.certificate}), []

    def _messages(self, prompt: Prompt, tasks: Sequence[_Task]) -> tuple[WriterMessage, ...]:
        described = self.bundle.environment.description
        holes = {
            "title": described.title,
            "clock": described.clock,
            "tasks": "\n\n".join(_listed(task) for task in tasks),
        }
        return prompt.fill(**holes, **({"about": described.description} if prompt is FIRST else {}))

    def _write(self, scenario: Scenario) -> None:
        write_scenario(self.bundle.folder, scenario)
        write_certificate(self.bundle.folder, scenario.id, scenario.certificate)

    def _sign(self, tasks: Iterable[_Task], left: dict[str, _Task], models: set[str]) -> None:
        """Write the model into the provenance of what was accepted: it is known when the exchange has ended."""
        there = load_scenarios(self.bundle.environment)
        for task in tasks:
            scenario = there.get(task.scenario.id)
            if task.scenario.id in left or scenario is None or scenario.provenance is None:
                continue
            provenance = scenario.provenance.model_copy(update={"model": ", ".join(sorted(models)) or None})
            write_scenario(self.bundle.folder, scenario.model_copy(update={"provenance": provenance}))

    def _told_anew(self) -> ToldAnew:
        try:
            return ToldAnew.model_validate_json(bytes_named(self.work / "anew.json"))
        except (OSError, ValueError):
            return ToldAnew()

    def _keep_anew(self, name: str) -> None:
        if self.anew:
            self.work.mkdir(parents=True, exist_ok=True)
            told = ToldAnew(names=(*self._told_anew().names, name))
            write_whole(self.work / "anew.json", told.model_dump_json() + "\n")

    @property
    def _file(self) -> Path:
        return self.work / "refused.json"

    def _given_up(self) -> RefusedTwice:
        try:
            return RefusedTwice.model_validate_json(bytes_named(self._file))
        except (OSError, ValueError):
            return RefusedTwice()

    def _give_up(self, outcome: RetellOutcome) -> None:
        self.work.mkdir(parents=True, exist_ok=True)
        told = RefusedTwice(reasons=outcome.refused).model_dump(mode="json")
        write_whole(self._file, json.dumps(told, ensure_ascii=False, indent=1) + "\n")


def _provenance(scenario: Scenario, messages: Sequence[WriterMessage]) -> Provenance:
    before = scenario.provenance
    asked = hashlib.sha256("\n".join(one.content for one in messages).encode()).hexdigest()[:16]
    return Provenance(
        source=SOURCE,
        licence=before.licence if before else "MIT",
        date=datetime.now(UTC).date().isoformat(),
        prompts={"retell": asked},
        first_wording=scenario.task,
    )


def _original(reference: ReferenceRun) -> Original | None:
    """What is to be retold. None if its parts cannot be told apart."""
    scenario = reference.scenario
    judged = any(isinstance(one, AnswerCheckpoint) for one in scenario.checkpoints)
    wants_report = judged and _number(scenario.id) % 4 < REPORTS_OF_FOUR
    parts = parts_of(scenario, reference.phrases, reference.writing, wants_report=wants_report)
    orders = [part for part in parts.parts if part.kind == "order"]
    if len(orders) != len(reference.writing) or len({part.call for part in orders}) != len(orders):
        return None
    return Original(
        scenario.task,
        parts,
        tuple(reference.told),
        reference.window.first,
        {index + 1: reference.made[index].arguments for index in reference.writing},
        _after(reference, parts),
        judged,
    )


def _after(reference: ReferenceRun, parts: TaskParts) -> dict[int, frozenset[int]]:
    """For each part the earlier ones that must come before it: it takes their results, or has a value in common."""
    found: dict[int, frozenset[int]] = {}
    arguments = {index + 1: reference.made[index].arguments for index in reference.writing}
    number_of = {part.call: number for number, part in enumerate(parts.parts, start=1) if part.kind == "order"}
    for call, number in number_of.items():
        step = reference.made[call - 1].step
        used = {int(number) for number, _ in REFERENCE.findall(str(step.arguments))}
        keys = {str(value) for value in arguments[call].values() if str(value) in reference.rows.tables_of}
        for other, other_number in number_of.items():
            theirs = {str(value) for value in arguments[other].values() if str(value) in reference.rows.tables_of}
            if other < call and (other in used or keys & theirs):
                found[number] = found.get(number, frozenset()) | {other_number}
    return found


def _in_brackets(hints: Sequence[str]) -> str:
    return f" ({'; '.join(hints)})" if hints else ""


def _number(name: str) -> int:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16)


def _listed(task: _Task) -> str:
    """A task as its writer reads it."""
    scenario, told = task.scenario, task.told
    manner = MANNERS[_number(f"{scenario.id}{scenario.title}") % len(MANNERS)]
    lines = [f"## {scenario.id}", f"Manner: {manner}.", f"It begins: {told.parts.opening or '(nothing)'}"]
    for number, part in enumerate(told.parts.parts, start=1):
        asks = {"order": "", "question": "asks to be told ", "report": "asks to "}[part.kind]
        after = told.after.get(number)
        hints = [f"after part {', '.join(str(one) for one in sorted(after))}"] if after else []
        hints += [f"{said(name, value, clock=told.clock)}" for name, value in signed(told, part)]
        lines.append(f"[{number}] {asks}{part.words.strip()}{_in_brackets(hints)}")
    if task.reasons:
        lines += [f"You wrote: {task.text or '(nothing)'}", *(f"- wrong: {reason}" for reason in task.reasons)]
    return "\n".join(lines)
