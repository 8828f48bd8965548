"""What an answer is about: another thing of the task, another moment, nothing at all, or something that is unsure."""

from datetime import datetime
from typing import Any

import pytest

from servers.answer.checks.verdict import verdicts
from servers.answer.expected_fact import wanted
from servers.answer.fact import Fact
from servers.answer.question import AnswerQuestion

NOW = datetime.fromisoformat("2026-03-16 09:00:00")
DAY = {"type": "date", "value": "2026-04-16"}
MONEY = {"type": "amount", "value": 2700}
HOOKS = (
    "Hello. Please send 4 valves to Rome, then have the parcel of hooks for Brno called back. "
    "Let me know how many valves are left."
)
CARD = (
    "I'm Dmitri Volkov. My card is about to run out; please renew it. Please renew Momo, too. Until when is Momo mine?"
)
CLAIM = (
    "Please strike the bookcases. Propose the settlement of Ada Novak's claim. Reopen Bo Lind's claim. "
    "Tell me how much is payable on the claim with the bookcases."
)


def tells(answer: str, fact: dict[str, Any], asked: str = "", *given: str, tell: str = "all") -> bool:
    """Whether an answer tells a fact."""
    one = wanted(Fact.model_validate({"name": "told", **fact}))
    return verdicts([AnswerQuestion((one,), f"Does the answer tell {asked}: x?", tell, given)], answer, NOW)[0].holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Both done. 37 valves are left.", True),
        ("The hooks for Brno are called back. Left: 37 valves.", True),
        ("37 hooks are left. The valves have gone to Rome.", False),
        ("There are 37 left of the hooks.", True),  # the question's own word stands beside it, and no name
    ],
)
def test_a_count_counts_what_was_asked_for(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "count", "value": 37}, "how many valves are left", HOOKS) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Your card is renewed, and Momo can stay until 16 April.", True),
        ("Dmitri, you may keep Momo until 16 April.", True),
        ("- Card: renewed\n- Momo: renewed, yours until 16 April", True),
        ("Your card is good until 16 April, and Momo can stay until the end of the month.", False),
        ("Momo is renewed. Your card is good until 16 April.", False),
        ("Momo cannot stay until 16 April.", False),
        ("Momo can be had from 16 April.", False),
    ],
)
def test_a_common_word_of_another_order_says_what_a_value_is_of(answer: str, holds: bool) -> None:
    assert tells(answer, DAY, "until when Momo may be kept", CARD) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("On the claim with the bookcases 2700 euros would be payable.", True),
        ("Ada Novak's settlement comes to 2700 euros; nothing is payable on the bookcases.", False),
        ("Payable: 2700 euros. On the claim with the bookcases, nothing yet.", False),
        ("2700 US dollars are payable on the claim with the bookcases.", False),
    ],
)
def test_a_question_without_a_name_is_known_by_its_rare_words(answer: str, holds: bool) -> None:
    asked = "how much would still be payable on the claim with the bookcases"
    assert tells(answer, {**MONEY, "currency": "EUR"}, asked, CLAIM) is holds


@pytest.mark.parametrize(
    "beside",
    [
        "I'm not sure about this, though.", "Not 100% sure.", "That might be wrong.", "This is only a guess.",
        "I could not verify any of this.", "I made that up.", "Please disregard what I said above.",
        "That is not correct.", "At least I believe so.", "If I'm not mistaken.", "But don't take my word for it.",
        "On second look it is another.",
    ],
)  # fmt: skip
def test_an_answer_that_is_unsure_of_itself_tells_nothing(beside: str) -> None:
    assert not tells(f"Momo may be kept until 16 April. {beside}", DAY, "until when Momo may be kept")


@pytest.mark.parametrize("word", ["apparently", "supposedly", "more or less", "or a day or two"])
def test_a_word_of_doubt_beside_the_value_hedges(word: str) -> None:
    assert not tells(f"Momo may be kept until 16 April {word}.", DAY, "until when Momo may be kept")


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("The ticket is valid on 16 April only, today is 2026-03-16.", True),
        ("The ticket is valid on 16 April only, and it is 16 March, 09:05.", True),
        ("The ticket is valid on 16 April only, today is 2026-03-17.", False),
        ("The ticket is valid on 16 April only, or on 16 March.", False),
        ("The ticket is valid on 16 April of 2026 or 2027.", False),
        ("Ticket **not used**, valid on 16 April.", True),
    ],
)
def test_the_day_of_the_work_may_stand_beside_a_reason(answer: str, holds: bool) -> None:
    given = "the ticket is for 2026-04-16 and is admitted on that day only"
    assert tells(answer, DAY, "16 April, which stands in the way", given, tell="any") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Open on the bill: 2700 euros.", True),
        ("Open now: 2700 euros. Since that was settled, nothing is open on the bill.", False),
        ("2700 euros are open on the bill. Nothing else was changed.", True),
    ],
)
def test_nothing_is_open_takes_the_value_back(answer: str, holds: bool) -> None:
    assert tells(answer, MONEY, "what is open on that bill now") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("12 seats are left.", True), ("Осталось 12 мест.", True), ("残り12席です。", True),
        ("12 seats (twelve) are left.", True), ("12 seats are left, that is 13 seats.", False),
        ("Three of the four went through. 12 seats are left.", True),
        ("The note “Ask for 12 keys” is added.", False), ("Ask for 12 keys: noted.", False),
    ],
)  # fmt: skip
def test_a_value_in_another_script_twice_or_by_chance(answer: str, holds: bool) -> None:
    task = "Please add the note “Ask for 12 keys” to Ann's room. Tell me how many seats are left."
    assert tells(answer, {"type": "count", "value": 12}, "how many seats are left", task) is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("16 April (Thursday, 2026-04-16).", True), ("16 April, that is 2026-04-17.", False),
        ("On 16 Apr 2026, until then.", True), ("It went out 16 Apr.", True), ("16 April/17 April", False),
    ],
)  # fmt: skip
def test_a_day_is_told_twice_in_two_forms(answer: str, holds: bool) -> None:
    assert tells(answer, DAY, "the day") is holds


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        ("Ada's ticket is void, it took 2 orders.", True),
        ("Orders taken: 2.", True),
        ("The ticket and the order are both marked.", False),
        ("Both orders.", True),
        ("The ticket took some other number than 2 orders.", False),
    ],
)
def test_both_counts_only_what_stands_behind_it(answer: str, holds: bool) -> None:
    assert tells(answer, {"type": "count", "value": 2}, "how many orders the ticket took") is holds


def test_a_pronoun_stands_for_the_name_before_it() -> None:
    task = "Please renew Marta Kowalczyk's permit. Revoke Yuna Park's permit. Until when would Yuna Park's have run?"
    asked = "until which day Yuna Park's permit would have run"
    assert tells("Yuna Park's permit is revoked; it would have run until 16 April.", DAY, asked, task)
    other = "Marta Kowalczyk's permit is renewed; hers would have run until 16 April. Yuna Park's permit is revoked."
    assert not tells(other, DAY, asked, task)
