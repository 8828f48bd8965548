"""Certificates try answers in other words: right ones must earn everything, wrong ones must not."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.answer import JUDGE_VERSION
from servers.bundle.paraphrases import (
    FORMS,
    OtherWords,
    Paraphrases,
    paraphrase_findings,
    read_paraphrases,
    template_problems,
)
from servers.bundle.phrases import read_phrases
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.certify.certifier import Examined, examine
from synth.certify.paraphrases import EVERYDAY, paraphrases_of
from synth.certify.value_forms import ValueForms
from synth.play.playground import Playground
from synth.solutions.reference_run import played
from tests.bundles import write, write_bundle
from tests.library import of_each_environment
from tests.processes import farm
from tests.synth.solutions.shops import GOAL, GUARD, LOGGED, SOUND, with_checkpoints

COST: dict[str, Any] = {
    "id": "told_1",
    "role": "goal",
    "question": "Does the answer tell what the anvil costs: 1 euro?",
    "kind": "answer",
    "facts": [{"name": "cost", "type": "amount", "value": 1.0, "confusable": [3.0, 200.0]}],
    "given": ["2.50"],
}
CANDLE = {
    **COST,
    "id": "told_2",
    "question": "Does the answer tell what the candle costs: 3 euros?",
    "facts": [{"name": "candle", "type": "amount", "value": 3.0}],
}
BARRED = {
    **COST,
    "id": "why_1",
    "question": "Does the answer tell 2026-04-05, which stands in the way?",
    "tell": "any",
    "facts": [{"name": "reason", "type": "date", "value": "2026-04-05"}],
}
WHOLE = {"right": [f"It is {form}." for form in ("1 euro", "€1", "EUR 1", "one euro", "1.00", "1,00")]}
WRONG = {"wrong": [f"It is {form}." for form in ("3 euros", "€2", "1 or 3 euros", "cheap", "unknown", "not 1 euro")]}
PHRASES = {
    "currency": "{} euros",
    "tells": {"price": [{"value": "cents", "ask": "what the anvil costs", "say": "It costs {value}."}]},
}


def scenario(*answers: dict[str, Any], answer: str = "The anvil costs 1 euro.") -> dict[str, Any]:
    """The sound scenario, which asks to be told something too."""
    made = with_checkpoints(GOAL, LOGGED, *answers, GUARD, task="Let the bell cost 2.50. What does the anvil cost?")
    return {**made, "solution": {**SOUND["solution"], "answer": answer}}


async def shop(folder: Path, told: dict[str, Any], **files: Any) -> Path:
    """A shop with a scenario and other files."""
    made = await write_bundle(folder / "shop", scenarios=[told])
    write(made, {f"{name}.json": json.dumps(content) for name, content in files.items()})
    return made


async def examined(folder: Path, told: dict[str, Any], **files: Any) -> Examined:
    """What is seen of the scenario."""
    async with Playground(await shop(folder, told, **files)) as stage:
        return await examine(stage, Scenario.model_validate(told))


async def words(folder: Path, told: dict[str, Any], **files: Any) -> OtherWords:
    """The answers with which the scenario is tried."""
    async with Playground(await shop(folder, told, **files)) as stage:
        reference = await played(stage, Scenario.model_validate(told))
        found = paraphrases_of(reference)
        await reference.close()
    return OtherWords(
        right=tuple(one.text for one in found if one.is_right),
        wrong=tuple(one.text for one in found if not one.is_right),
    )


async def test_whole_answers_of_the_bundle_are_counted_in_the_certificate(tmp_path: Path) -> None:
    seen = await examined(tmp_path, scenario(COST), paraphrases={"scenarios": {"dearer": {**WHOLE, **WRONG}}})
    assert seen.findings == []
    assert seen.certificate is not None
    tried = seen.certificate.paraphrases
    assert tried is not None
    assert (tried.right, tried.wrong, tried.refused, tried.passed) == (6, 6, (), ())
    assert seen.misjudged == []


async def test_what_is_taken_for_the_contrary_is_listed_by_its_words(tmp_path: Path) -> None:
    swapped = {"right": [*WHOLE["right"], "It is 3 euros."], "wrong": [*WRONG["wrong"], "It is 1 euro."]}
    seen = await examined(tmp_path, scenario(COST), paraphrases={"scenarios": {"dearer": swapped}})
    assert seen.certificate is not None
    assert seen.certificate.paraphrases is not None
    assert seen.certificate.paraphrases.refused == ("It is 3 euros.",)
    assert seen.certificate.paraphrases.passed == ("It is 1 euro.",)
    assert seen.misjudged == [
        "a right answer in other words is refused: It is 3 euros.",
        "a wrong answer in other words passes: It is 1 euro.",
    ]


async def test_too_few_are_said_and_void_nothing(tmp_path: Path) -> None:
    seen = await examined(tmp_path, scenario(COST), paraphrases={"scenarios": {"dearer": {**WHOLE, "wrong": ["No."]}}})
    assert seen.certificate is not None
    [remark] = seen.misjudged
    assert remark.startswith("only 6 right and 1 wrong answers in other words; 6 of each are wanted")


async def test_a_scenario_whose_answer_is_not_judged_has_none(tmp_path: Path) -> None:
    seen = await examined(tmp_path, SOUND)
    assert seen.certificate is not None
    assert seen.certificate.paraphrases is None
    assert seen.misjudged == []


async def test_a_file_that_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    seen = await examined(tmp_path, scenario(COST), paraphrases={"tell": {}})
    assert seen.certificate is None
    assert "tell: no such key" in seen.findings[0]


async def test_everyday_templates_serve_where_nobody_wrote_any(tmp_path: Path) -> None:
    found = await words(tmp_path, scenario(COST), phrases=PHRASES)
    assert found.is_enough
    assert "That is one euro." in found.right
    assert "3 euros" in found.wrong  # the value that could be taken for it
    assert found.wrong[2] == "Either 1 euro or 3 euros."


async def test_the_templates_of_what_was_asked_come_first(tmp_path: Path) -> None:
    bell = {
        **COST,
        "question": "Does the answer tell what the bell costs now: 2.50 euros?",
        "facts": [{"name": "bell", "type": "amount", "value": 2.5}],
        "given": [],
    }
    own = {"right": ["Costs {value|comma}"], "wrong": ["Costs {other|code}"]}
    found = await words(tmp_path, scenario(bell), phrases=PHRASES, paraphrases={"tells": {"price": {"cents": own}}})
    assert (found.right, found.wrong) == (("Costs 2,50",), ("Costs EUR 3.50",))


async def test_several_questions_have_a_line_each_and_one_of_a_wrong_answer_is_wrong(tmp_path: Path) -> None:
    found = await words(tmp_path, scenario(COST, CANDLE), phrases=PHRASES)
    assert found.right[0] == "- What the anvil costs: 1 euro\n- What the candle costs: 3 euros"
    assert found.wrong[0] == "- What the anvil costs: 200 euros\n- What the candle costs: 3 euros"  # 3 is the other's
    assert found.wrong[1] == "- What the anvil costs: It comes to EUR 1.\n- What the candle costs: It is EUR 4."


async def test_a_reason_has_templates_of_its_own(tmp_path: Path) -> None:
    found = await words(tmp_path, scenario(BARRED), phrases=PHRASES)
    assert "Not possible, because of 2026-04-05." in found.right
    assert "It could not be done because of 6 April." in found.wrong


@pytest.mark.parametrize(
    "answer",
    [
        {**COST, "facts": [*COST["facts"], *CANDLE["facts"]]},
        {**COST, "facts": [{"name": "cost", "type": "amount", "sql": "SELECT 1.0"}]},
        {**COST, "silent": ["candle"]},
        {**COST, "facts": [{"name": "who", "type": "name", "value": "Ada"}]},
    ],
    ids=["several facts", "a SELECT", "words to be silent about", "no wrong value"],
)
async def test_what_templates_cannot_say_takes_whole_messages(tmp_path: Path, answer: dict[str, Any]) -> None:
    assert await words(tmp_path, scenario(answer)) == OtherWords()


@pytest.mark.parametrize(
    ("kind", "value", "forms"),
    [
        ("amount", 1234.5, "1234.50 euros; 1234.50; 1.234,50; €1234.50; EUR 1234.50; one thousand two hundred and "
         "thirty-four euros and fifty cents"),
        ("count", 112, "112; one hundred and twelve; １１２"),
        ("date", "2026-04-02", "2 April; 2026-04-02; April 2, 2026; 2.4.2026; Thursday, 2 April 2026; "
         "the 2nd of April"),
        ("date", "2027-04-11", "11 April 2027; 2027-04-11; April 11, 2027; 11.4.2027; Sunday, 11 April 2027; "
         "the 11th of April 2027"),
        ("time", "14:30", "14:30; 2:30 pm"),
        ("time", "00:05", "00:05; 12:05 am"),
        ("name", "Zoë Nowak", "Zoë Nowak; ZOË NOWAK; Zoe Nowak"),
    ],
)  # fmt: skip
def test_each_form_that_docs_name_is_written(kind: Any, value: Any, forms: str) -> None:
    written = ValueForms("{} euros", "2026-03-16 09:00:00")
    assert "; ".join(written.written(kind, value, form) for form in ("", *FORMS[kind])) == forms


def test_everyday_templates_are_enough_for_each_type_and_have_its_forms() -> None:
    everyday = Paraphrases.model_validate_json(EVERYDAY.read_text())
    assert everyday.tells["told"].keys() == FORMS.keys()
    for by_type in everyday.tells.values():
        for kind, one in by_type.items():
            assert one.is_enough
            assert list(template_problems(one, kind)) == []


@of_each_environment()
async def test_the_library_has_paraphrases_for_what_it_asks(name: str) -> None:
    async with Playground(OWN_LIBRARY / name) as stage:
        environment = stage.environment
        scenarios = load_scenarios(environment)
        assert paraphrase_findings(environment, scenarios.keys()) == []
        found = read_paraphrases(environment.folder)[1]
        assert found.provenance is not None
        phrases = read_phrases(environment.folder, environment)[1]
        assert phrases is not None
        assert set(found.tells) <= phrases.tells.keys()
        assert [name for name, words in found.scenarios.items() if not words.is_enough] == []


async def test_a_certificate_of_another_judge_is_out_of_date(tmp_path: Path) -> None:
    for told, is_judged in ((scenario(COST), True), (SOUND, False)):
        made = await shop(tmp_path / str(is_judged), told)
        async with Playground(made) as stage:
            kept = (await examine(stage, Scenario.model_validate(told))).certificate
            assert kept is not None
            assert kept.judge == JUDGE_VERSION
            whole = Scenario.model_validate(told).model_copy(update={"certificate": kept})
            assert is_current(stage.environment, whole)
            older = whole.model_copy(update={"certificate": kept.model_copy(update={"judge": JUDGE_VERSION - 1})})
            assert is_current(stage.environment, older) is not is_judged


async def test_right_words_stand_above_the_last_line_and_wrong_ones_in_it(tmp_path: Path) -> None:
    lines = {"last_line": True}
    answer = "Both.\nAnswer: 1 euro; 3 euros; reason: 5 April"
    told = scenario({**COST, **lines}, {**CANDLE, **lines}, {**BARRED, **lines}, answer=answer)
    made = await words(tmp_path, told, phrases=PHRASES)
    assert all(text.count("\nAnswer: ") == 1 and "; reason: " in text for text in made.right)
    assert all(text.startswith("Answer: ") for text in made.wrong)
    async with Playground(tmp_path / "shop") as stage:
        seen = await examine(stage, Scenario.model_validate(told))
    assert seen.paraphrases is not None
    assert (seen.paraphrases.refused, seen.paraphrases.passed) == ((), ())


async def test_whole_answers_get_the_last_line_of_the_reference(tmp_path: Path) -> None:
    told = scenario({**COST, "last_line": True}, answer="It is cheap.\nAnswer: 1 euro")
    made = await words(tmp_path, told, paraphrases={"scenarios": {"dearer": {**WHOLE, **WRONG}}})
    assert made.right[0] == "It is 1 euro.\nAnswer: 1 euro"
    assert made.wrong[0] == "Answer: It is 3 euros."


async def test_whole_answers_with_a_line_of_their_own_stay_as_they_are(tmp_path: Path) -> None:
    told = scenario({**COST, "last_line": True}, answer="It is cheap.\nAnswer: 1 euro")
    own = {
        "right": ["Cheap.\n\n**Answer:** €1.00", *WHOLE["right"]],
        "wrong": ["1 euro.\nAnswer: 3 euros", *WRONG["wrong"]],
    }
    made = await words(tmp_path, told, paraphrases={"scenarios": {"dearer": own}})
    assert made.right[:2] == (own["right"][0], "It is 1 euro.\nAnswer: 1 euro")
    assert made.wrong[:2] == (own["wrong"][0], "Answer: It is 3 euros.")


async def test_certify_lists_them_and_counts_them(tmp_path: Path) -> None:
    swapped = {"right": [*WHOLE["right"], "It is 3 euros."], **WRONG}
    made = await shop(tmp_path, scenario(COST), paraphrases={"scenarios": {"dearer": swapped}})
    done = await farm("certify", made, "--jobs", "1", home=tmp_path)
    assert done.code == 0, done.out
    assert "dearer: a right answer in other words is refused: It is 3 euros." in done.out
    assert "Answers in other words: 1 of 7 right ones are refused, 0 of 6 wrong ones pass." in done.out
