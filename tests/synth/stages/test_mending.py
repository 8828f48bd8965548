"""Code that was sent back is mended where the evidence points, and nowhere else."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from synth.run.asker import Asker
from synth.run.stage import Made
from synth.stages.code import Code, Written, code
from synth.stages.line import STAGES
from synth.writers.writer import Answer, Message
from tests.synth.stages.replay import all_answers, environment


@dataclass
class OneAnswer:
    """A writer that says the same to everything, and keeps what it was asked."""

    value: dict[str, Any]
    asked: list[Sequence[Message]] = field(default_factory=list[Sequence[Message]])

    async def ask(self, messages: Sequence[Message], schema: dict[str, Any], *, label: str) -> Answer:
        self.asked.append(messages)
        return Answer(value=self.value, model="m", prompt="p", prompt_tokens=0, completion_tokens=0, cached=False)


async def test_a_tool_that_was_found_wanting_is_written_again_with_the_evidence(tmp_path: Path) -> None:
    clinic = environment(tmp_path)
    clinic.stages = STAGES[:5]
    assert (await clinic.advance()).state == "accepted"
    kinds = zip(clinic.line.stages, clinic.line.standing(), strict=True)
    artefacts = {stage.kind: stage.kind.model_validate(artefact.value) for stage, artefact in kinds}
    before = artefacts[Code]
    assert isinstance(before, Code)
    first = Written.model_validate_json(all_answers("veterinary_clinic", "Written")[0])
    body = 'def list_vets(db: Database) -> Vets:\n    vets: list[Vet] = []\n    return {"vets": vets}\n'
    examples = [one.model_dump() for one in first.examples if one.tool == "list_vets"]
    writer = OneAnswer(json.loads(json.dumps({"code_py": body, "examples": examples, "unbreakable": []})))
    made = Made(clinic.id, clinic.folder, "2026-11-21", evidence=("list_vets: shows too many.",), before=before,
                artefacts=artefacts)  # fmt: skip
    mended = await code(made, Asker(writer, environment="clinic", stage="code"))
    assert len(writer.asked) == 1
    assert "shows too many." in writer.asked[0][-1].content
    assert "vets: list[Vet] = []\n    return" in mended.source
    assert mended.source.count("\ndef ") == before.source.count("\ndef ")
    assert len(mended.examples) == len(before.examples)
