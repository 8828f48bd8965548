"""`farm synth phrases`: a writer gives the phrases of an environment, as `phrases.json`.

Then it gives answers in other words, as `paraphrases.json`.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple, TypeVar

from servers.bundle.description import Provenance, Tool
from servers.bundle.environment import Environment
from servers.bundle.paraphrases import PARAPHRASES_FILE, Paraphrases, read_paraphrases
from servers.bundle.phrases import HOLE, Phrases, holes, is_named, problems_of
from servers.errors import BundleError, FarmError
from servers.files.atomic_write import write_whole
from servers.text.json_values import is_list, is_object
from synth.backward.bundle_view import BundleView
from synth.backward.profile import EVERYTHING
from synth.backward.requester import names_of
from synth.backward.scenario_builder import told
from synth.backward.usage_counts import UsageCounts
from synth.certify.template_stage import TemplateStage
from synth.forward.brief import Brief
from synth.llm.prompt import Prompt
from synth.llm.writer import Writer
from synth.phrasing.task_text import NO_ORDER, OPTIONAL
from synth.pipeline.artefact import Artefact, Topic
from synth.pipeline.asker import Asker
from synth.pipeline.environment_run import EnvironmentRun
from synth.pipeline.stage import Artefacts, Stage
from synth.play.playground import Playground
from synth.solutions.argument_sources import Argument

PROMPT = Prompt.load(Path(__file__).with_name("phrases.md"))
TRIAL_WALKS = 30
LEAST_TOLD = 0.4
"""The share of trial walks that must become a task."""


T = TypeVar("T", Phrases, Paraphrases)


class NotWritten(FarmError):
    """There are no phrases, or no answers in other words."""


class WrittenPhrases(NamedTuple):
    """A writer's phrases and paraphrases."""

    phrases: Phrases
    paraphrases: Paraphrases


async def written(folder: Path, work: Path, out: Path, writer: Writer) -> WrittenPhrases:
    """Ask for the phrases of a bundle and for answers in other words, and write both, the latter beside `out`.

    Accepted answers are not requested again.

    Raises:
        NotWritten: no answer was accepted, or there is none yet. Accepted phrases are written nevertheless.
        BundleError: the file beside `out` cannot be read.
    """
    async with Playground(folder) as stage:
        steps = (
            Stage("phrases", Phrases, Phrasing(stage).make),
            Stage("paraphrases", Paraphrases, TemplateStage(stage).make),
        )
        line = EnvironmentRun(stage.environment.id, work, steps, writer)
        line.begin(Topic(title=stage.environment.description.title))
        end = await line.advance()
        artefacts = {one.stage: one for one in line.line.standing()}
    phrases, paraphrases = artefacts.get("phrases"), artefacts.get("paraphrases")
    if phrases is not None:
        _write(out, _signed(Phrases, phrases))
    if phrases is None or paraphrases is None:
        raise NotWritten(f"{stage.environment.id}: {end.state}: {end.why}")
    made = WrittenPhrases(_signed(Phrases, phrases), _with_whole_answers(_signed(Paraphrases, paraphrases), out.parent))
    if made.paraphrases.tells:
        _write(out.with_name(PARAPHRASES_FILE), made.paraphrases)
    return made


def _signed(kind: type[T], artefact: Artefact) -> T:
    """The accepted value, with its provenance."""
    asked = artefact.exchanges[-1:]
    provenance = Provenance(
        source="written for this environment",
        licence="MIT",
        date=artefact.made_at[:10],
        model=", ".join(artefact.models) or None,
        prompts={artefact.stage: asked[0].prompt[:16]} if asked else {},
    )
    return kind.model_validate({**artefact.value, "provenance": provenance.model_dump()})


def _with_whole_answers(templates: Paraphrases, folder: Path) -> Paraphrases:
    """Templates with the whole answers of a folder, which others wrote."""
    problems, there = read_paraphrases(folder)
    if problems:
        raise BundleError(problems[0])
    if not there.scenarios or templates.provenance is None:
        return templates
    by = there.provenance
    notes = f"Whole answers by: {by.model or by.source}, {by.date}." if by else "Whole answers by somebody else."
    provenance = templates.provenance.model_copy(update={"notes": notes})
    return templates.model_copy(update={"scenarios": there.scenarios, "provenance": provenance})


def _write(path: Path, value: Phrases | Paraphrases) -> None:
    told_of_it = value.model_dump(mode="json", exclude_defaults=True)
    write_whole(path, json.dumps(told_of_it, ensure_ascii=False, indent=1) + "\n")


class Phrasing:
    """The stage: what it asks, and what it accepts."""

    def __init__(self, bundle: Playground) -> None:
        self._bundle = bundle
        self._environment = bundle.environment

    async def make(self, _made: Artefacts, asker: Asker) -> Phrases:
        """Ask for the words."""
        setting = await BundleView.of(self._bundle, Phrases())
        messages = PROMPT.fill(
            arguments="\n".join(_explained(setting)),
            shown="\n".join(_shown(setting)),
            **Brief(self._environment).holes(),
        )

        async def accept(answer: Phrases) -> list[str]:
            found = [*problems_of(answer, self._environment), *findings(answer, setting)]
            return found or await self._tried_out(answer)

        return await asker.ask(messages, Phrases, accept)

    async def _tried_out(self, phrases: Phrases) -> list[str]:
        """A fault if too few walks become tasks with these phrases."""
        setting = await BundleView.of(self._bundle, phrases)
        tally, lost, said = UsageCounts(), list[str](), set[str]()
        for at in range(TRIAL_WALKS):
            came = await told(setting, EVERYTHING.wish(0, at), tally, Random(f"0/{at}"))  # noqa: S311 - to be repeated
            if isinstance(came, str):
                lost.append(came)
            else:
                tally.take(came, setting.tools)
                said |= set(came.tags)
        there = TRIAL_WALKS - len(lost)
        if there >= LEAST_TOLD * TRIAL_WALKS:
            return []
        never = [tool.name for tool in setting.writers if tool.name not in said]
        return [
            f"of {TRIAL_WALKS} errands that were tried only {there} could be put into these words; never "
            f"{', '.join(never)}: the forms in `rows` must mean one row alone by what queries show of it"
        ]


def findings(phrases: Phrases, setting: BundleView) -> list[str]:
    """The faults of phrases, a sentence each."""
    return [
        *_of_rows(phrases, setting),
        *_of_asks(phrases, setting),
        *_of_tells(phrases, setting),
        *_of_senders(phrases, setting),
    ]


def _of_rows(phrases: Phrases, setting: BundleView) -> Iterator[str]:
    shown = _properties(setting.stage.environment)
    for table in sorted(_named_tables(setting) - phrases.rows.keys()):
        yield f"rows: nothing for {table!r}, whose rows commands name"
    for table, forms in phrases.rows.items():
        for form in forms:
            unknown = [name for name in holes(form) if shown and name not in shown]
            if unknown:
                yield f"rows.{table}: no query shows {unknown[0]!r}: {form!r}"
            elif not holes(form):
                yield f"rows.{table}: {form!r} has no hole, so it means no row in particular"
            elif any(name == "id" or name.endswith("_id") for name in holes(form)):
                yield f"rows.{table}: {form!r} tells an id; people go by names, titles and days"


def _of_asks(phrases: Phrases, setting: BundleView) -> Iterator[str]:
    for tool in setting.writers:
        by_voice = phrases.asks.get(tool.name, {})
        if not by_voice:
            yield f"asks: nothing for the command {tool.name!r}"
        for voice, templates in by_voice.items():
            if voice not in phrases.voices:
                yield f"asks.{tool.name}: the voice {voice!r} is not among `voices`"
            for template in templates:
                yield from (f"asks.{tool.name}.{voice}: {why}: {template!r}" for why in _wrong(template, tool, phrases))


def _wrong(template: str, tool: Tool, phrases: Phrases) -> Iterator[str]:
    if NO_ORDER.match(template) and not template.rstrip().endswith((".", "!", "?")):
        yield "does not begin with what is to be done, and it follows “please”; or give it a full stop"
    conditions = {part[2] for part in OPTIONAL.finditer(template) if part[2]}
    unknown = conditions - tool.properties.keys()
    if unknown:
        yield f"there is no argument {min(unknown)!r}"
    whole = OPTIONAL.sub("", template)
    exempt = {argument for argument in tool.required if _is_speaker(argument, phrases)}
    missing = tool.required - set(holes(whole)) - conditions - exempt
    if missing:
        yield f"does not tell {min(missing)!r}"
    if re.search(r"\w_\w", HOLE.sub("", OPTIONAL.sub(lambda part: part[3], template))):
        yield "names something of the program"


def _is_speaker(argument: str, phrases: Phrases) -> bool:
    return phrases.speaker is not None and argument.removesuffix("_id") in phrases.speaker


def _of_tells(phrases: Phrases, setting: BundleView) -> Iterator[str]:
    for name, tells in phrases.tells.items():
        shown = str(setting.tools[name].result) if name in setting.tools else ""
        for tell in tells:
            missing = [part for part in tell.value.split(".") if "properties" in shown and f"'{part}'" not in shown]
            if missing:
                yield f"tells.{name}: its result has no {tell.value!r}"


def _of_senders(phrases: Phrases, setting: BundleView) -> Iterator[str]:
    if "chores" in phrases.voices and not phrases.senders:
        yield "senders: nobody is named who may ask for what is nobody's own errand"
    for number, sender in enumerate(phrases.senders, start=1):
        if not names_of(sender, setting.first):
            yield f"senders.{number}: no row of {sender.table!r} fits `only` and has what {sender.name!r} tells"
    unnamed = [form for form in phrases.voices["chores"].open if not is_named(form)] if phrases.senders else []
    if unnamed:
        yield f"voices.chores.open: does not say who asks, by the hole {{name}}: {unnamed[0]!r}"


def _named_tables(setting: BundleView) -> set[str]:
    """The tables whose rows commands must name."""
    return {
        one.source.columns[0].table
        for tool in setting.writers
        for one in setting.arguments.of(tool)
        if one.source.kind == "id" and one.name in tool.required
    }


def _properties(environment: Environment) -> set[str]:
    """Every property that some query shows. Empty if a query does not declare its result."""
    found: set[str] = set()
    if any("properties" not in tool.result for tool in environment.tools.values() if not tool.writes):
        return found
    for tool in environment.tools.values():
        if not tool.writes:
            found |= set(re.findall(r"'(\w+)': \{", str(tool.result)))
    return found


def _explained(setting: BundleView) -> Iterator[str]:
    for tool in setting.writers:
        yield f"- {tool.name}: " + "; ".join(_meant(one) for one in setting.arguments.of(tool))


def _meant(one: Argument) -> str:
    row = f" [a row of {one.source.columns[0].table}]" if one.source.kind == "id" else ""
    return f"{one.name}{row}: {str(one.schema.get('description', '')).rstrip('.')}"


def _shown(setting: BundleView) -> Iterator[str]:
    """The properties that queries show of each table that commands name."""
    for table in sorted(_named_tables(setting)):
        names = {name for name in setting.at_first.names(table) if name != "id"}
        seen: dict[str, None] = {}
        for tool in setting.tools.values():
            if not tool.writes:
                for properties in _objects(tool.result):
                    if next((name for name in properties if name.endswith("id")), "") in names:
                        seen |= dict.fromkeys(properties)
        told_of = [name for name in seen if not name.endswith("_id") and name != "id"]
        beside = [] if told_of else _beside(setting, names)
        yield f"- a row of {table}: {', '.join(told_of or beside) or 'nothing but its key'}"


def _beside(setting: BundleView, keys: set[str]) -> list[str]:
    """The properties that queries show of referenced rows: `line_name` beside `line_id`."""
    found: dict[str, None] = {}
    for tool in setting.tools.values():
        for properties in _objects(tool.result) if not tool.writes else ():
            for stem in (key.removesuffix("_id") for key in keys & set(properties)):
                found |= dict.fromkeys(one for one in properties if one.startswith(stem) and not one.endswith("_id"))
    return list(found)


def _objects(schema: Any) -> Iterator[list[str]]:
    """The properties of every object in a schema."""
    if is_object(schema):
        if is_object(properties := schema.get("properties")):
            yield list(properties)
        for inner in schema.values():
            yield from _objects(inner)
    elif is_list(schema):
        for inner in schema:
            yield from _objects(inner)
