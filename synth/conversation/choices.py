"""The values that only the person can tell: the reference takes them from the task, and no query shows them."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from agent_client.references import REFERENCE
from servers.text.json_leaves import leaves
from servers.text.json_values import is_list, is_object
from synth.solutions.answer_facts import fact_of, gives
from synth.solutions.call_run import PlayedCall
from synth.solutions.plausible_values import enum_of
from synth.solutions.reference_run import ReferenceRun
from synth.solutions.value_texts import is_money, said

FEWEST = 2
ChosenValues = dict[str, Any]


@dataclass(frozen=True)
class PersonChoice:
    """A value that the person gives, or a row that their words select among `others`."""

    told: ChosenValues
    """The told values, by name of the argument or the property."""
    words: str
    others: tuple[ChosenValues, ...] = ()
    """The other rows, with different values."""

    def is_open(self, text: str) -> bool:
        """True if a text leaves the choice open."""
        known = {name: value for name, value in self.told.items() if is_told(name, value, text)}
        if not self.others:
            return not known
        return any(all(other.get(name) == value for name, value in known.items()) for other in self.others)


@dataclass(frozen=True)
class Needed:
    """The values that a scenario's reference needs from its task."""

    values: ChosenValues
    """All values that the task tells and a call uses, by place."""
    choices: tuple[PersonChoice, ...]
    clock: str

    @property
    def is_enough(self) -> bool:
        """True if there is a value to ask for, and another beside it."""
        return len(self.choices) >= FEWEST

    def lost(self, text: str) -> list[str]:
        """The values that a text does not tell."""
        gone = {where: value for where, value in self.values.items() if not is_told(where, value, text)}
        return sorted({said(_name(where), value, clock=self.clock) for where, value in gone.items()})


def needed(reference: ReferenceRun) -> Needed:
    """The needed values, from the arguments of calls and the results before them."""
    task = reference.scenario.task
    values: ChosenValues = {}
    choices: dict[str, PersonChoice] = {}
    for at, one in enumerate(reference.made):
        earlier = {str(value) for before in reference.made[:at] for _, value in _shown(before)}
        for name, value in _literals(reference, one):
            if is_told(name, value, task):
                values[f"{one.step.number}.{name}"] = value
                if str(value) not in earlier:
                    words = said(name, value, clock=reference.window.first)
                    choices.setdefault(words, PersonChoice({name: value}, words))
        for place, picked in _picked(reference, one):
            values |= {f"{place}.{name}": value for name, value in picked.told.items()}
            if picked.others:
                choices.setdefault(picked.words, picked)
    return Needed(values, tuple(choices.values()), reference.window.first)


def is_told(name: str, value: Any, text: str) -> bool:
    """True if a text tells a value, in any form that people use."""
    fact = fact_of(_name(name), value)
    return fact is not None and gives(text, fact)


def _name(where: str) -> str:
    return where.rpartition(".")[2]


def _shown(one: PlayedCall) -> Iterator[tuple[str, Any]]:
    return leaves(one.outcome.structured, "")


def _literals(reference: ReferenceRun, one: PlayedCall) -> Iterator[tuple[str, Any]]:
    """The literal values of a call. Filters of queries by state are the agent's own choice."""
    tool = reference.environment.tools[one.step.tool]
    for name, value in one.step.arguments.items():
        schema = tool.properties.get(name, {})
        sifts = not tool.writes and enum_of(schema)
        if not sifts and not (isinstance(value, str) and REFERENCE.search(value)):
            for path, leaf in leaves(value, ""):
                yield _name(path) or name, leaf


def _picked(reference: ReferenceRun, one: PlayedCall) -> Iterator[tuple[str, PersonChoice]]:
    """The rows that a call uses, each with what the task tells of it and the other rows."""
    for text in (text for _, text in leaves(one.step.arguments, "") if isinstance(text, str)):
        for found in REFERENCE.finditer(text):
            number, path = int(found[1]), found[2]
            head, bracket, rest = path.rpartition("[")
            rows = _at(reference.made[number - 1].outcome.structured, head) if bracket else None
            if not is_list(rows):
                continue
            every = [dict(leaves(row, "")) for row in rows]
            index = int(rest.partition("]")[0])
            told = {
                name: value
                for name, value in every[index].items()
                if is_told(name, value, reference.scenario.task) and (isinstance(value, str) or is_money(_name(name)))
            }
            others = tuple(row for row in every if any(row.get(name) != value for name, value in told.items()))
            words = ", ".join(said(_name(name), value, clock=reference.window.first) for name, value in told.items())
            yield f"{number}{head}[{index}]", PersonChoice(told, words, others)


def _at(result: Any, head: str) -> Any:
    """The value at a path of names. None if it leads through another list."""
    for name in head.strip(".").split("."):
        result = result.get(name) if is_object(result) else None
    return result
