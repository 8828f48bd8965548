"""The words of a task read as a person would write them."""

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from servers.bundle.description import Tool
from servers.bundle.phrases import Phrases, Voice
from synth.phrasing.plain_sentences import Thing, plain_ask
from synth.phrasing.task_text import TemplateValues, composed, filled
from synth.solutions.value_texts import said


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
    clause = filled(template, TemplateValues(words, dict(words)))
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
    said = composed(phrases, "chores", "Ada", [clause], list(tells), random=random)
    return re.sub(r"^(Could you|I need you to) (.*)[.?]$", r"Please \2.", said)


PERSON = Thing("member", is_person=True)
DECISION = {"decision": {"type": "string", "enum": ["approved", "rejected"]}}


@pytest.mark.parametrize(
    ("description", "given", "things", "clause"),
    [
        ("Lend a copy to a member.", {"copy": "Dune", "member": "Ada"}, ("copy", "member"), "lend Dune to Ada"),
        ("End the hold of an order.", {"order": "Ada's order"}, ("order",), "end the hold of Ada's order"),
        (
            "Put an available or reserved copy aside: for a reader, or for good.",
            {"copy": "Dune"},
            ("copy",),
            "put Dune aside",
        ),
        ("Discard a copy that is torn, or a lost one.", {"copy": "Dune"}, ("copy",), "discard Dune"),
        (
            "Note that somebody is leaving, or correct the day.",
            {"member": "Ada", "last_day": "2026-05-03"},
            ("member",),
            "note that Ada is leaving, with the last day 3 May",
        ),
        ("Approve or reject a copy.", {"copy": "Dune", "decision": "rejected"}, ("copy",), "reject Dune"),
        ("Approve or reject a copy.", {"copy": "Dune", "decision": "approved"}, ("copy",), "approve Dune"),
        (
            "Open a ticket.",
            {"member": "Ada", "due_on": "2026-05-03", "seats": 1, "note": "At once, please", "is_urgent": True},
            ("member",),
            "open a ticket for Ada, due on 3 May, with 1 seat and the note “At once, please” (is urgent: yes)",
        ),
        (
            "Take a copy.",
            {"copy": "Dune", "arrival": "2026-05-03", "departure": "2026-05-04", "amount_cents": 250},
            ("copy",),
            "take Dune, from 3 May to 4 May, for 2.50",
        ),
        ("Weigh a copy.", {"copy": "Dune", "weight_kg": 4}, ("copy",), "weigh Dune, with a weight of 4 kg"),
        ("Revoke a copy.", {"copy": "Dune", "revoke_reason": "Mould"}, ("copy",), "revoke Dune, with the reason Mould"),
    ],
)
def test_without_templates_a_description_becomes_a_request(
    description: str, given: dict[str, Any], things: tuple[str, ...], clause: str
) -> None:
    tool = Tool(name="do", description=description, arguments={"properties": DECISION}, result={}, writes=True)
    words = {name: said(name, value, clock="2026-01-01 09:00:00") for name, value in given.items()}
    nouns = {name: PERSON if name == "member" else Thing(name, is_person=False) for name in things}
    assert plain_ask(tool, TemplateValues(words, given), nouns) == clause
