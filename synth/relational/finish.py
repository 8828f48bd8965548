"""The last stages of a rewriting: both are the same in many calls, the bundle, its proof."""

from collections.abc import Iterable

from servers.authoring.proof import PROOF_FILE
from servers.bundle.description import Provenance
from servers.bundle.environment import as_json
from servers.files.named_file import text_named
from servers.records import Record
from synth.environments.assembly import Assembly, assembled, models_of
from synth.environments.code import Bench
from synth.environments.drafts.start_images import guests_here
from synth.environments.interface import Interface
from synth.environments.proof import evidence_of
from synth.pipeline.artefact import digest_of_file
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack, Stage
from synth.prove.proof import Proof
from synth.prove.prover import prove
from synth.relational import outline, scenarios, tables, tools
from synth.relational.equivalence import figures, unseen
from synth.relational.tables import LICENCE_FILE, ImportedCopy, imported_folder, twin_so_far
from synth.relational.tools import Toolset, compared_draft, kept_examples
from synth.relational.twin_file import TWIN_FILE, DeclaredDifference, EquivalenceShown, Twin

CALLS = 2000
PROMPTS = (tables.PROMPT, outline.PROMPT, tools.PROMPT, scenarios.PROMPT)


class Equal(Record):
    """The figures of the comparison, and the declared differences that were seen."""

    shown: EquivalenceShown
    differences: tuple[DeclaredDifference, ...]


async def equal(made: Artefacts, _asker: Asker) -> Equal:
    """Compare all tools on both sides. Declared differences that no call shows are struck out.

    Raises:
        GoBack: to the tools, with the calls that differ.
    """
    given = made[Toolset]
    twin = twin_so_far(made).model_copy(update={"differences": given.differences})
    names = [plan.name for plan in made[Interface].tools]
    async with guests_here() as guests:
        compared = await compared_draft(
            Bench(made, guests, ""), given.code.source, given.code.examples, twin, tools=names, calls=CALLS, seed=1
        )
    seen = [number for number, times in enumerate(compared.differences) if times]
    shown = compared.shown.model_copy(update={"differences": tuple(compared.differences[number] for number in seen)})
    kept = tuple(given.differences[number] for number in seen)
    compared.differences = list(shown.differences)
    wrong = compared.findings or unseen(compared, twin.model_copy(update={"differences": kept}))
    if wrong:
        raise GoBack("tools", wrong)
    return Equal(shown=shown, differences=kept)


async def assemble(made: Artefacts, _asker: Asker) -> Assembly:
    """Write the bundle.

    Raises:
        Rejected: the farm's own check has a finding.
    """
    code = made[Toolset].code
    more = {TWIN_FILE: as_json(whole_twin(made))}
    licence = imported_folder(made) / LICENCE_FILE
    if licence.exists():
        more[LICENCE_FILE] = text_named(licence)
    return await assembled(
        made,
        code,
        examples=kept_examples(code.examples),
        provenance=_provenance(made, made[ImportedCopy]),
        counts=figures(made[Equal].shown),
        more=more,
    )


async def prove_rewritten(made: Artefacts, _asker: Asker) -> Proof:
    """Prove the bundle like any other.

    Raises:
        GoBack: to the tools, with the findings.
    """
    proof = await prove(made.bundle)
    if not proof.sound:
        raise GoBack("tools", evidence_of(proof.findings, made[Interface].tools))
    made.write(f"bundle/{made.environment}/{PROOF_FILE}", as_json(proof))
    return proof


REWRITE: tuple[Stage, ...] = (
    *tables.STAGES,
    outline.STAGE,
    tools.STAGE,
    Stage("equal", Equal, equal, needs_model=False, counts=lambda value: figures(value.shown)),
    Stage("assemble", Assembly, assemble, needs_model=False, counts=lambda value: value.counts),
    Stage("prove", Proof, prove_rewritten, needs_model=False),
    scenarios.STAGE,
)
"""The stages of a rewriting in order, after its topic."""


def whole_twin(made: Artefacts) -> Twin:
    """The twin file with differences and figures."""
    found = made[Equal]
    return twin_so_far(made).model_copy(update={"differences": found.differences, "shown": found.shown})


def _provenance(made: Artefacts, copy: ImportedCopy) -> Provenance:
    shown = made[Equal].shown
    return Provenance(
        source=f"rewritten from {copy.source}",
        licence=copy.licence,
        date=made.date,
        model=models_of(made.folder),
        prompts=prompts(),
        notes=f"Written by `farm synth run --from`. {_in_words(shown.calls, made[Equal].differences)}",
    )


def _in_words(calls: int, differences: Iterable[DeclaredDifference]) -> str:
    count = len(tuple(differences))
    told = f"{count} declared {'difference' if count == 1 else 'differences'}"
    return f"In {calls} calls it did what the imported environment does, with {told} ({TWIN_FILE})."


def prompts() -> dict[str, str]:
    """The digests of the prompt files."""
    return {prompt.path.stem: digest_of_file(prompt.path) for prompt in PROMPTS}
