"""The words of a task read as a person would write them."""

import re
from collections.abc import Sequence
from random import Random

import pytest

from servers.phrases import Phrases, Voice
from synth.scenarios.words import Values, composed, filled


@pytest.mark.parametrize(
    ("template", "words", "task"),
    [
        ("put {hold} on", {"hold": "a advising hold"}, "Please put an advising hold on."),
        ("close {section}", {"section": "section A of Logic"}, "Please close section A of Logic."),
        ("put {a}  by", {"a": "it"}, "Please put it by."),
        ("we looked at {a}, so drop it", {"a": "the tap"}, "We looked at the tap, so drop it."),
        ("{agreed_by} agrees, so lift the block", {"agreed_by": "Ada"}, "Ada agrees, so lift the block."),
    ],
)
def test_what_is_put_into_holes_reads_well(template: str, words: dict[str, str], task: str) -> None:
    clause = filled(template, Values(words, dict(words)))
    assert clause is not None
    assert one_errand(clause) in (task, task.replace("Please ", "I'd like you to "))


def test_what_begins_with_i_and_what_ends_with_a_full_stop_stay_so() -> None:
    manner = Voice(open=("From the desk:",), close=("",))
    tasks = {one_errand("note it, then", manner, tells=["the day."], seed=seed) for seed in range(20)}
    assert not [task for task in tasks if "i'd" in task or ".." in task]
    assert any(": I'd like" in task for task in tasks)


def one_errand(clause: str, manner: Voice | None = None, *, tells: Sequence[str] = (), seed: int = 0) -> str:
    """A task of one clause, without an opening unless there is a manner of speaking."""
    phrases = Phrases(voices={"chores": manner or Voice(open=("",), close=("",))})
    random = Random(seed)  # noqa: S311 - to be repeated
    said = composed(phrases, "chores", "Ada", [clause], list(tells), may_fail=False, random=random)
    return re.sub(r"^(Could you|I need you to) (.*)[.?]$", r"Please \2.", said)
