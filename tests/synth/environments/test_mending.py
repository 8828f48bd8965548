"""What was sent back is mended where the evidence points, and nowhere else."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from servers.errors import FarmError
from servers.sandbox.guest_pool import Guests
from synth.environments.code import Code, Written, code
from synth.environments.drafts.start_images import image_of
from synth.environments.drafts.table_shapes import shape_of
from synth.environments.inspection import Inspection, inspect
from synth.environments.interface import Interface, interface
from synth.environments.schema import Schema
from synth.environments.seed import More, Rows, more_findings, seed
from synth.environments.stages import STAGES
from synth.llm.writer import WriterAnswer, WriterMessage
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack
from tests.synth.environments.replay import all_answers, made_of


@dataclass
class OneAnswer:
    """A writer that says the same to everything, and keeps what it was asked."""

    value: dict[str, Any]
    asked: list[Sequence[WriterMessage]] = field(default_factory=list[Sequence[WriterMessage]])

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        self.asked.append(messages)
        return WriterAnswer(value=self.value, model="m", prompt="p", prompt_tokens=0, completion_tokens=0, cached=False)


async def test_a_tool_that_was_found_wanting_is_written_again_with_the_evidence(tmp_path: Path) -> None:
    clinic = await made_of(tmp_path, STAGES[:5])
    before = clinic[Code]
    first = Written.model_validate_json(all_answers("veterinary_clinic", "Written")[0])
    body = 'def list_vets(db: Database) -> Vets:\n    vets: list[Vet] = []\n    return {"vets": vets}\n'
    examples = [one.model_dump() for one in first.examples if one.tool == "list_vets"]
    writer = OneAnswer(json.loads(json.dumps({"code_py": body, "examples": examples, "unbreakable": []})))
    made = replace(clinic, evidence=("list_vets: shows too many.",), before=before)
    mended = await code(made, Asker(writer, environment="clinic", stage="code"))
    assert len(writer.asked) == 1
    assert "shows too many." in writer.asked[0][-1].content
    assert "vets: list[Vet] = []\n    return" in mended.source
    assert mended.source.count("\ndef ") == before.source.count("\ndef ")
    assert len(mended.examples) == len(before.examples)


NEW = "INSERT INTO owners (id, name, phone) VALUES ('own_new', 'Aurelio Zanetti', '030 5550177');"


def with_rows(clinic: Artefacts, more: str) -> Artefacts:
    """The clinic with rows more, and what comes after them still to be made."""
    rows = clinic[Rows]
    added = rows.model_copy(update={"seed_sql": f"{rows.seed_sql}{more}\n"})
    return replace(clinic, artefacts={**clinic.artefacts, Rows: added})


async def test_rows_are_added_to_those_that_are_there_with_the_refusals_as_evidence(tmp_path: Path) -> None:
    clinic = await made_of(tmp_path, STAGES[:3])
    writer = OneAnswer({"seed_sql": NEW})
    evidence = ("refund: only 0 of its calls went well: it did: refused: nothing is paid",)
    made = replace(clinic, before=clinic[Rows], evidence=evidence)
    rows = await seed(made, Asker(writer, environment="clinic", stage="seed"))
    assert rows.seed_sql == f"{clinic[Rows].seed_sql}{NEW}\n"
    assert rows.counts["owners"] == clinic[Rows].counts["owners"] + 1
    asked = writer.asked[0][-1].content
    assert "refused: nothing is paid" in asked
    assert "own_marta" in asked, "the rows that are there are shown"


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("UPDATE owners SET phone = '1' WHERE id = (SELECT min(id) FROM owners);", "1 of the rows that are there were"),
        ("SELECT 1;", "adds no row"),
        (NEW.replace("own_new", "own_marta"), "UNIQUE constraint failed"),
        (NEW.replace("Aurelio Zanetti", "John Doe"), "placeholder"),
    ],
)
async def test_rows_that_are_added_change_nothing_and_are_as_good_as_the_first(
    tmp_path: Path, sql: str, told: str
) -> None:
    clinic = await made_of(tmp_path, STAGES[:3])
    rows, schema = clinic[Rows], clinic[Schema]
    async with Guests() as guests:
        image, _ = await image_of(guests, schema=schema.schema_sql, seed=rows.seed_sql, clock=schema.clock)
        found = await more_findings(More(seed_sql=sql), rows, shape_of(image), schema, guests)
    assert any(told in one for one in found), found


async def test_after_rows_were_added_interface_and_code_stand_without_a_question(tmp_path: Path) -> None:
    clinic = with_rows(await made_of(tmp_path, STAGES[:5]), NEW)
    writer = OneAnswer({})
    asker = Asker(writer, environment="clinic", stage="any")
    assert await interface(replace(clinic, before=clinic[Interface]), asker) == clinic[Interface]
    assert await code(replace(clinic, before=clinic[Code]), asker) == clinic[Code]
    assert writer.asked == []


async def test_code_whose_examples_no_longer_hold_is_mended(tmp_path: Path) -> None:
    clinic = await made_of(tmp_path, STAGES[:5])
    clinic = with_rows(clinic, "UPDATE invoices SET status = 'void' WHERE id = 'inv_saoirse_may';")
    writer = OneAnswer({})
    with pytest.raises(FarmError):
        await code(replace(clinic, before=clinic[Code]), Asker(writer, environment="clinic", stage="code"))
    assert "- take_payment: its example" in writer.asked[0][-1].content


@dataclass
class Judge:
    """A tester who knows one call of a tool, and a checker who finds all of it right."""

    tool: str = ""
    arguments: str = ""
    asked: list[str] = field(default_factory=list[str])

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        text = messages[-1].content
        self.asked.append(text)
        if schema["title"] == "Judgements":
            numbers = re.findall(r"(?m)^(\d+)\. \w+ \{", text.partition("# The calls")[2])
            value: Any = {"judgements": [{"number": int(one), "verdict": "pass", "reason": ""} for one in numbers]}
        else:
            call = {"tool": self.tool, "arguments": self.arguments, "why": "It is."}
            value = {
                "calls": [
                    {**call, "setup": f"UPDATE owners SET phone = '{number}' WHERE 0;", "expect": expect}
                    for number, expect in enumerate(("ok", "ok", "refused"))
                ]
            }
        return WriterAnswer(value=value, model="m", prompt="p", prompt_tokens=0, completion_tokens=0, cached=False)


async def inspected(clinic: Artefacts, writer: Judge, **change: Any) -> Inspection:
    return await inspect(replace(clinic, **change), Asker(writer, environment="clinic", stage="inspect"))


def changed(clinic: Artefacts, old: str, new: str) -> Artefacts:
    source = clinic[Code].source.replace(old, new, 1)
    assert source != clinic[Code].source
    return replace(clinic, artefacts={**clinic.artefacts, Code: clinic[Code].model_copy(update={"source": source})})


async def test_only_calls_whose_tool_or_outcome_changed_are_judged_again(tmp_path: Path) -> None:
    clinic = await made_of(tmp_path, STAGES[:6])
    before, writer = clinic[Inspection], Judge()
    assert await inspected(clinic, writer, seen=before) == before
    assert writer.asked == []
    own = [case.call for case in before.cases if case.call.tool == "list_vets"]
    touched = changed(clinic, "    vets: list[Vet] = []\n", "    vets: list[Vet] = list[Vet]()\n")
    after = await inspected(touched, writer, seen=before)
    assert len(writer.asked) == 1
    calls = writer.asked[0].partition("# The calls")[2]
    assert len(re.findall(r"(?m)^\d+\. ", calls)) == len(own)
    assert calls.count("list_vets") >= len(own)
    assert [case.call for case in after.cases] == [case.call for case in before.cases]


async def test_a_tool_with_nothing_but_right_refusals_asks_for_rows_and_only_then_for_code(tmp_path: Path) -> None:
    clinic = await made_of(tmp_path, STAGES[:6])
    before = clinic[Inspection]
    case = next(one for one in before.cases if one.call.tool == "void_invoice" and one.outcome == "ok")
    head = re.search(r'def void_invoice\(.*?""".*?"""\n', clinic[Code].source, re.DOTALL)
    assert head is not None
    closed = changed(clinic, head[0], f'{head[0]}    if db.now():\n        raise ToolError("it is paid already")\n')
    writer = Judge("void_invoice", case.call.arguments)
    with pytest.raises(GoBack) as back:
        await inspected(closed, writer, seen=before)
    assert back.value.to == "seed"
    [evidence] = back.value.evidence
    assert evidence.startswith("void_invoice: only 0 of its calls went well")
    assert evidence.count("refused: it is paid already") == 3
    assert isinstance(back.value.seen, Inspection)
    assert "These calls were made before" in writer.asked[0]
    with pytest.raises(GoBack) as back:
        await inspected(closed, writer, seen=before, sent=("seed",))
    assert back.value.to == "code"
