"""A whole line that goes back for rows: what was made of the first ones stands, only what changed is judged anew."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from synth.environments.proof import destination
from synth.environments.stages import STAGES
from synth.llm.writer import WriterAnswer, WriterMessage
from synth.pipeline.environment_run import EnvironmentRun
from synth.prove.proof import Coverage, Finding, Proof, ToolShown, load_proof
from tests.synth.environments.replay import OldAnswers, made_of

NEW = "INSERT INTO owners (id, name, phone) VALUES ('own_new', 'Aurelio Zanetti', '030 5550177');"
TOOL = "void_invoice"


@dataclass
class Blind:
    """Answers as was once answered, but tests one tool with unknown ids until rows were added; any call is right."""

    old: OldAnswers = field(default_factory=lambda: OldAnswers("veterinary_clinic"))
    counts: Counter[str] = field(default_factory=Counter[str])
    judged: list[int] = field(default_factory=list[int])

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        kind, text = str(schema["title"]), messages[1].content
        self.counts[kind] += 1
        if kind == "More":
            return self._said({"seed_sql": NEW})
        if kind == "Judgements":
            numbers = re.findall(r"(?m)^(\d+)\. \w+ \{", text.partition("# The calls")[2])
            self.judged.append(len(numbers))
            return self._said(
                {"judgements": [{"number": int(one), "verdict": "pass", "reason": ""} for one in numbers]}
            )
        answer = await self.old.ask(messages, schema, label=label)
        if kind != "Calls":
            return answer
        tested = set(re.findall(r"(?m)^def (\w+)\(", text))
        calls = [call for call in answer.value["calls"] if call["tool"] in tested]
        if not self.counts["More"]:
            calls = [self._astray(call) if call["tool"] == TOOL else call for call in calls]
        return self._said({"calls": calls})

    def _astray(self, call: dict[str, Any]) -> dict[str, Any]:
        arguments = json.loads(call["arguments"])
        return {**call, "arguments": json.dumps({**arguments, "invoice_id": f"{arguments['invoice_id']}_x"})}

    def _said(self, value: Any) -> WriterAnswer:
        return WriterAnswer(value=value, model="m", prompt="p", prompt_tokens=0, completion_tokens=0, cached=False)


@pytest.mark.slow
async def test_a_tool_that_no_row_lets_succeed_gets_rows_and_the_rest_stands(tmp_path: Path) -> None:
    writer = Blind()
    await made_of(tmp_path, STAGES[:5])
    clinic = EnvironmentRun("veterinary_clinic", tmp_path / "clinic", STAGES, writer)
    end = await clinic.advance()
    assert end.state == "accepted", end.why
    [back] = clinic.line.backs()
    assert (back.by, back.to) == ("inspect", "seed")
    assert all(line.startswith(f"{TOOL}: only 0 of its calls went well") for line in back.evidence)
    assert "refused: no invoice" in back.evidence[0]
    asked = {kind: writer.counts[kind] for kind in ("Seed", "More", "Interface", "Written")}
    assert asked == {"Seed": 0, "More": 1, "Interface": 0, "Written": 0}
    assert writer.judged[-1] < sum(writer.judged) / 4, "of the second round only what changed"
    bundle = clinic.folder / "bundle" / "veterinary_clinic"
    assert NEW in load(bundle).seed
    proof = load_proof(bundle)
    assert proof is not None
    assert proof.sound


def unsound(*findings: tuple[str, str], refused: int = 9) -> Proof:
    return Proof(
        environment="e",
        version="1",
        files={},
        seed=0,
        calls=9,
        sound=False,
        score=0,
        checks={},
        findings=tuple(Finding.model_validate({"check": one, "subject": two, "text": ""}) for one, two in findings),
        tools={"lend": ToolShown(ok=0, refused=refused, can_refuse=True)},
        rules={},
        coverage=Coverage(branches=0, taken=0, missed=()),
    )


def test_a_proof_asks_for_rows_once_where_nothing_but_refusals_was_seen() -> None:
    only = unsound(("succeeds", "lend"))
    assert destination(only, ()) == "seed"
    assert destination(only, ("seed",)) == "code"
    assert destination(unsound(("succeeds", "lend"), refused=0), ()) == "code"
    assert destination(unsound(("succeeds", "lend"), ("answers", "lend")), ()) == "code"
