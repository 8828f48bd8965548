"""Assembly: the artefacts become a bundle, which the farm checks like any other."""

import json
from dataclasses import replace
from pathlib import Path

from servers.authoring.check import findings
from servers.bundle.description import Provenance
from servers.bundle.examples import BundleExample
from servers.records import Record
from synth.environments.code import Code, texts_of
from synth.environments.drafts.sample_calls import arguments_of
from synth.environments.drafts.start_images import guests_here
from synth.environments.drafts.tool_signatures import described
from synth.environments.inspection import Inspection
from synth.environments.schema import Schema
from synth.pipeline.artefact import digest_of_file, read_artefact
from synth.pipeline.asker import Asker, Rejected
from synth.pipeline.stage import Artefacts, Stage

LICENCE = "MIT"
EXCHANGES_FILE = "exchanges.json"
"""Every request for a bundle and every answer, by digest: the basis of its provenance."""
HERE = Path(__file__).parent


class Assembly(Record):
    """The bundle: its place in the environment's folder, and its counts."""

    bundle: str
    files: dict[str, str]
    counts: dict[str, int]


async def assemble(made: Artefacts, _asker: Asker) -> Assembly:
    """Write the bundle.

    Raises:
        Rejected: the farm's own check has a finding that no earlier stage had.
    """
    source = made[Code].source
    async with guests_here() as guests:
        tools, _ = await described(source, guests)
        texts = texts_of(made, source, list(tools.values()), made[Code].unbreakable)
        texts = replace(texts, examples=examples_of(made[Inspection]))
        for name, text in {**texts.files(_provenance(made)), EXCHANGES_FILE: exchanges_of(made.folder)}.items():
            made.write(f"bundle/{made.environment}/{name}", text)
        wrong = await findings(made.bundle, guests)
    if wrong:
        raise Rejected("assemble", [finding.replace(str(made.folder), "") for finding in wrong])
    rules = made[Schema].rules
    return Assembly(
        bundle=f"bundle/{made.environment}",
        files={path.name: digest_of_file(path) for path in sorted(made.bundle.iterdir())},
        counts={
            "tools": len(tools),
            "commands": sum(tool["writes"] for tool in tools.values()),
            "rules": len(rules),
            **{
                f"rules_of_{holder}": sum(rule.holder == holder for rule in rules)
                for holder in ("schema", "tool", "agent")
            },
            "calls_inspected": len(made[Inspection].cases),
        },
    )


STAGE = Stage("assemble", Assembly, assemble, needs_model=False, counts=lambda value: value.counts)


def examples_of(inspection: Inspection) -> tuple[BundleExample, ...]:
    """The calls that inspection found right. The proof repeats them, and scenarios begin from them."""
    return tuple(
        BundleExample(tool=case.call.tool, arguments=arguments, setup=case.call.setup, outcome=case.call.expect)
        for case in inspection.cases
        if case.verdict == "pass" and case.outcome == case.call.expect
        for arguments, _ in [arguments_of(case.call.arguments)]
        if arguments is not None
    )


def _provenance(made: Artefacts) -> Provenance:
    models = {model for path in sorted(made.folder.glob("[0-9][0-9]-*.json")) for model in _models(path)}
    return Provenance(
        source="synthesised",
        licence=LICENCE,
        date=made.date,
        model=", ".join(sorted(models)) or None,
        prompts=prompts(),
    )


def prompts() -> dict[str, str]:
    """The digests of the prompt files that write an environment."""
    names = ("setting", "schema", "seed", "more_rows", "interface", "code", "tester", "checker")
    return {name: digest_of_file(HERE / f"{name}.md") for name in names}


def exchanges_of(folder: Path) -> str:
    """The requests behind its artefacts, with digests, and the reasons of refused answers, as JSON."""
    told = [
        {
            "stage": artefact.stage,
            **exchange.model_dump(include={"prompt", "model", "prompt_tokens", "completion_tokens", "reasons"}),
        }
        for path in sorted(folder.glob("[0-9][0-9]-*.json"))
        if (artefact := read_artefact(path)) is not None
        for exchange in artefact.exchanges
    ]
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _models(path: Path) -> tuple[str, ...]:
    artefact = read_artefact(path)
    return artefact.models if artefact else ()
