"""A certificate that another judge of answers made is renewed by what hangs on the answer, if that is enough."""

from pathlib import Path
from typing import Any

from servers.answer import JUDGE_VERSION
from servers.scenario.scenario import Certificate, Scenario
from synth.certify.certifier import Examined, examine
from synth.certify.renewal import renew, renewable
from synth.play.playground import Playground
from tests.synth.certify.test_paraphrases import COST, scenario, shop

LINED: dict[str, Any] = {**COST, "last_line": True}
RIGHT = "It is cheap.\nAnswer: 1 euro"


async def renewed(folder: Path, told: dict[str, Any], **older: Any) -> tuple[Certificate, Examined]:
    """The certificate of a whole examination, and what is seen when one of an older judge is renewed."""
    async with Playground(await shop(folder, told)) as stage:
        plain = Scenario.model_validate(told)
        whole = (await examine(stage, plain)).certificate
        assert whole is not None
        kept = whole.model_copy(update={"judge": JUDGE_VERSION - 1, **older})
        return whole, await renew(stage, plain.model_copy(update={"certificate": kept}))


async def test_it_comes_out_as_a_whole_examination_does(tmp_path: Path) -> None:
    whole, seen = await renewed(tmp_path, scenario(LINED, answer=RIGHT))
    assert seen.certificate == whole
    assert {one.what for one in seen.mutants} == {
        "saying nothing",
        "only claiming to be done",
        "refusing in words",
        "with other numbers and names",
    }, "nothing else was tried again"


async def test_what_hangs_on_the_answer_is_not_taken_from_the_older_one(tmp_path: Path) -> None:
    odd = {"claimer": 0.9, "line hedger": 1.0, "reader": 0.25}
    whole, seen = await renewed(tmp_path, scenario(LINED, answer=RIGHT), company=odd, paraphrases=None)
    assert seen.certificate is not None
    assert seen.certificate.company == {**_spoken(whole), "reader": 0.25}
    assert seen.certificate.paraphrases == whole.paraphrases


async def test_one_that_the_rows_or_another_text_void_is_examined_as_a_whole(tmp_path: Path) -> None:
    by_select = {**LINED, "facts": [{"name": "cost", "type": "amount", "sql": "SELECT 1"}]}
    for name, told, older in (
        ("rows", scenario(by_select, answer=RIGHT), {}),
        ("text", scenario(LINED, answer=RIGHT), {"digest": "0" * 32}),
    ):
        whole, seen = await renewed(tmp_path / name, told, company={"reader": 0.25}, **older)
        assert seen.certificate == whole


async def test_a_fault_of_an_answer_leaves_no_certificate(tmp_path: Path) -> None:
    sound = scenario(LINED, answer=RIGHT)
    async with Playground(await shop(tmp_path, sound)) as stage:
        kept = (await examine(stage, Scenario.model_validate(sound))).certificate
        assert kept is not None
        wrong = Scenario.model_validate(scenario(LINED, answer="It is dear.\nAnswer: 3 euros"))
        older = wrong.model_copy(update={"certificate": kept.model_copy(update={"judge": JUDGE_VERSION - 1})})
        assert renewable(stage.environment, older) is None
        seen = await renew(stage, older)
    assert seen.certificate is None
    assert any("does not hold after the reference" in finding for finding in seen.findings)


def _spoken(whole: Certificate) -> dict[str, float]:
    """What the agents earn that say something else than the reference."""
    doers = ("near miss", "first match", "half", "over doer", "undoer", "reader", "twice")
    return {name: reward for name, reward in whole.company.items() if name not in doers}
