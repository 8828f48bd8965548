"""A written conversation: who asks, how they begin, what they tell when; and its faults."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from servers.records import Record
from synth.conversation.choices import Needed, PersonChoice, is_told
from synth.environments.mining.tasks import in_english
from synth.forward.proposal import keys_in, tools_in
from synth.play.playground import Playground
from synth.solutions.plausible_values import RowSample

NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
MOST_FACTS = 12


class PersonFact(Record):
    """Something that the person knows, and when they tell it: `asked` for it, or of themselves `after` something."""

    what: str = Field(min_length=4, max_length=300)
    when: Literal["asked", "after"]
    cue: str = Field(min_length=3, max_length=160, description="asked: what for; after: what has happened then")


class Talk(Record):
    """Who asks, and how the wish comes out."""

    persona: str = Field(min_length=40, max_length=600)
    opening: str = Field(min_length=15, max_length=300)
    facts: tuple[PersonFact, ...] = Field(min_length=1, max_length=MOST_FACTS)

    @property
    def told(self) -> str:
        """Everything that the person may say."""
        return "\n".join([self.opening, *(fact.what for fact in self.facts)])

    def whole(self) -> str:
        """The persona for a simulated user."""
        listed = "\n".join(f"- {fact.what} ({_cue(fact)})" for fact in self.facts)
        return (
            f"{self.persona}\n\nYou begin with these words, and no more: {self.opening}\n\n"
            f"What you know, and when you tell it:\n{listed}"
        )


def _cue(fact: PersonFact) -> str:
    cue = fact.cue.rstrip(".")
    return f"only when you are asked {cue}" if fact.when == "asked" else f"of yourself, but only after {cue}"


def findings(talk: Talk, task: str, needed: Needed, stage: Playground, rows: RowSample) -> list[str]:
    """The faults of a conversation, for its writer."""
    return [*_words(talk, task, stage, rows), *_lost(talk, task, needed), *_withheld(talk, needed)]


def _words(talk: Talk, task: str, stage: Playground, rows: RowSample) -> Iterator[str]:
    """Words that a person would not say or know."""
    texts = {"persona": talk.persona, "opening": talk.opening}
    for at, fact in enumerate(talk.facts):
        texts |= {f"facts.{at}.what": fact.what, f"facts.{at}.cue": fact.cue}
    for where, text in texts.items():
        for name in tools_in(text, stage):
            yield f"{where}: names the tool {name}; a person knows none"
        for name in columns_in(text, stage, rows):
            yield f"{where}: names {name}, which is a name of the system; say it as people do"
        for key in keys_in(text, rows):
            if key not in task:
                yield f"{where}: gives the key {key}, which no person knows"

    every = " ".join(f"{fact.what} {fact.cue}." for fact in talk.facts)
    for where, text in (("persona", talk.persona), ("opening", talk.opening), ("facts", every)):
        if not in_english(text):  # facts are judged together: one may be a name alone
            yield f"{where}: is not English"


def columns_in(text: str, stage: Playground, rows: RowSample) -> list[str]:
    """The names of columns and arguments in a text, except plain words."""
    named = {name for columns in rows.columns.values() for name in columns}
    named |= {name for tool in stage.environment.tools.values() for name in tool.properties}
    return sorted(name for name in named if "_" in name and re.search(rf"\b{name}\b", text))


def _lost(talk: Talk, task: str, needed: Needed) -> Iterator[str]:
    """Values of the task that the person does not tell, and the reverse."""
    for value in needed.lost(talk.told):
        yield f"facts: nobody tells {value!r}, which the task tells and doing it takes; use the task's own words for it"
    for number in sorted(_numbers(task)):
        if not _counts(number, talk.told):
            yield f"facts: the {number} of the task is not told"
    for number in sorted(_numbers(talk.told)):
        if not _counts(number, task):
            yield f"facts: {number} is not in the task; add nothing to it"


def _withheld(talk: Talk, needed: Needed) -> Iterator[str]:
    """A fault if nothing is left to ask for after the opening."""
    left = [choice for choice in needed.choices if choice.is_open(talk.opening)]
    if not left:
        known = "; ".join(choice.words for choice in needed.choices)
        yield f"opening: tells all that only the person knows ({known}), so nobody has to ask; keep some of it back"
    elif not any(_asked_for(choice, talk.facts) for choice in left):
        kept = "; ".join(choice.words for choice in left)
        yield f"facts: none of what the opening keeps back ({kept}) has to be asked for; let one of them be"


def _asked_for(choice: PersonChoice, facts: Sequence[PersonFact]) -> bool:
    """True if the deciding fact of a choice is told only when asked for."""
    of_itself = "\n".join(fact.what for fact in facts if fact.when == "after")
    asked = [fact.what for fact in facts if fact.when == "asked"]
    return choice.is_open(of_itself) and any(
        is_told(name, value, text) for name, value in choice.told.items() for text in asked
    )


def _numbers(text: str) -> set[str]:
    return set(NUMBER.findall(text))


def _counts(number: str, text: str) -> bool:
    """True if a text has a number, also as a word."""
    return number in _numbers(text) or (number.isdecimal() and is_told("count", int(number), text))
