"""Assembly: the artefacts become a bundle, which the farm checks like any other."""

import json
from collections.abc import Mapping
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
from synth.pipeline.artefact import Artefact, digest_of_file, read_artefact
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
    inspection = made[Inspection]
    return await assembled(
        made,
        made[Code],
        examples=examples_of(inspection),
        provenance=_provenance(made),
        counts={
            **{
                f"rules_of_{holder}": sum(rule.holder == holder for rule in made[Schema].rules)
                for holder in ("schema", "tool", "agent")
            },
            "calls_inspected": len(inspection.cases),
        },
    )


async def assembled(
    made: Artefacts,
    code: Code,
    *,
    examples: tuple[BundleExample, ...],
    provenance: Provenance,
    counts: Mapping[str, int],
    more: Mapping[str, str] | None = None,
) -> Assembly:
    """Write a bundle with `more` files and check it. Its counts are the usual ones and `counts`.

    Raises:
        Rejected: the farm's own check has a finding.
    """
    async with guests_here() as guests:
        derived, _ = await described(code.source, guests)
        tools = list(derived.values())
        texts = replace(texts_of(made, code.source, tools, code.unbreakable), examples=examples)
        files = {**texts.files(provenance), **(more or {}), EXCHANGES_FILE: exchanges_of(made.folder)}
        for name, text in files.items():
            made.write(f"bundle/{made.environment}/{name}", text)
        wrong = await findings(made.bundle, guests)
    if wrong:
        raise Rejected("assemble", [finding.replace(str(made.folder), "") for finding in wrong])
    return Assembly(
        bundle=f"bundle/{made.environment}",
        files={path.name: digest_of_file(path) for path in sorted(made.bundle.iterdir())},
        counts={
            "tools": len(tools),
            "commands": sum(tool["writes"] for tool in tools),
            "rules": len(made[Schema].rules),
            **counts,
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
    return Provenance(
        source="synthesised",
        licence=LICENCE,
        date=made.date,
        model=models_of(made.folder),
        prompts=prompts(),
    )


def prompts() -> dict[str, str]:
    """The digests of the prompt files that write an environment."""
    names = ("setting", "schema", "seed", "more_rows", "interface", "code", "tester", "checker")
    return {name: digest_of_file(HERE / f"{name}.md") for name in names}


def models_of(folder: Path) -> str | None:
    """The names of the models behind its artefacts."""
    return ", ".join(sorted({model for artefact in _artefacts(folder) for model in artefact.models})) or None


def exchanges_of(folder: Path) -> str:
    """The requests behind its artefacts, with digests, and the reasons of refused answers, as JSON."""
    told = [
        {
            "stage": artefact.stage,
            **exchange.model_dump(include={"prompt", "model", "prompt_tokens", "completion_tokens", "reasons"}),
        }
        for artefact in _artefacts(folder)
        for exchange in artefact.exchanges
    ]
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _artefacts(folder: Path) -> list[Artefact]:
    found = map(read_artefact, sorted(folder.glob("[0-9][0-9]-*.json")))
    return [artefact for artefact in found if artefact is not None]
