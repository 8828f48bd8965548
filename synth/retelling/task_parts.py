"""The parts of a walk's task: who speaks, what it orders, what it asks. They are found by the words of its goals."""

import re
from collections.abc import Sequence
from typing import Literal, NamedTuple

from servers.bundle.phrases import HOLE, Phrases
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Scenario
from synth.phrasing.task_text import without_refusal_words

DONE = re.compile(r"Was this done: (?P<words>.+)\?", re.DOTALL)
ASKED = re.compile(r"Does the answer tell (?P<words>.+): .+\?", re.DOTALL)
REFUSED = re.compile(r"This could not be done: (?P<words>.+?)\. The reason:", re.DOTALL)
WHY = re.compile(r"why_\d+")
SENTENCE = re.compile(r"[^.!?]+(?:[.!?]+(?!\s|$)[^.!?]*)*[.!?]*")
GLUE = re.compile(
    r"^(?:and|then|after that|please|also|could you|i'd like you to|i need you to|i would like you to|"
    r"i also need to know|at the end|tell me|let me know|,|\s)+|"
    r"(?:,? (?:please|and|and then))+(?=[\s.!?]*$)",
    re.IGNORECASE,
)
SHORTEST = 12
"""The shortest text that can be a part: what is shorter stands between parts."""
REPORT = "hear if anything is not done, and why"


class TaskPart(NamedTuple):
    """One thing that a task wants. `tool` is the command of an order, if it is known."""

    kind: Literal["order", "question", "report"]
    words: str
    tool: str = ""
    call: int = 0
    """The number of the order's call in the solution. 0 if it is not known."""


class TaskParts(NamedTuple):
    """The words in which a task begins, and its parts in order."""

    opening: str
    parts: tuple[TaskPart, ...]


def parts_of(scenario: Scenario, phrases: Phrases, writing: Sequence[int], *, wants_report: bool = False) -> TaskParts:
    """The parts of a walk's task. `writing` are the indices of its commands in the solution.

    With `wants_report` it asks for the outcome of each part, as a task does whose answer must give a reason.
    """
    rest, known = scenario.task, dict[int, TaskPart]()
    for part in sorted(_known(scenario, writing), key=lambda one: -len(one.words)):
        words = part.words.rstrip(".")
        at = next((at for at in (rest.find(words), rest.find(words[1:])) if at >= 0), -1)
        if at >= 0:
            length = len(words) if rest.startswith(words, at) else len(words) - 1
            rest = f"{rest[:at]}{chr(1) * length}{rest[at + length :]}"
            known[at] = part
    opening, found = _left(rest, known, phrases, scenario)
    known |= {at: TaskPart("order", words) for at, words in found.items()}
    calls = {part.call for part in known.values()}
    missing = [index + 1 for index in writing if index + 1 not in calls]
    for at, part in sorted(known.items()):
        if part.kind == "order" and not part.call and missing:
            call = missing.pop(0)
            known[at] = part._replace(tool=_tool(scenario, call), call=call)
    is_why = any(WHY.fullmatch(one.id) for one in scenario.checkpoints)
    report = (TaskPart("report", REPORT),) if is_why or wants_report else ()
    return TaskParts(opening, (*(known[at] for at in sorted(known)), *report))


def _known(scenario: Scenario, writing: Sequence[int]) -> list[TaskPart]:
    """The parts whose words a checkpoint or the solution's answer has."""
    found: list[TaskPart] = []
    done = {f"done_{at}": index + 1 for at, index in enumerate(writing, start=1)}
    for one in scenario.checkpoints:
        order, question = DONE.fullmatch(one.question), ASKED.fullmatch(one.question)
        if order is not None:
            call = done.get(one.id, 0)
            found.append(TaskPart("order", order["words"], _tool(scenario, call), call))
        elif question is not None and isinstance(one, AnswerCheckpoint) and not WHY.fullmatch(one.id):
            found.append(TaskPart("question", question["words"].rstrip(".")))
    found += [TaskPart("order", words) for words in REFUSED.findall(scenario.reference().answer)]
    return found


def _tool(scenario: Scenario, call: int) -> str:
    return scenario.reference().calls[call - 1].tool if call else ""


def _left(rest: str, known: dict[int, TaskPart], phrases: Phrases, scenario: Scenario) -> tuple[str, dict[int, str]]:
    """The opening, and the orders that no checkpoint names, by their place."""
    voices = [phrases.voices[name] for name in phrases.voices if name in scenario.tags]
    opening = next((begun for voice in voices for form in voice.open if (begun := _begun(rest, form))), "")
    closing = next(
        (form for voice in voices for form in sorted(voice.close, key=len) if form and rest.endswith(form)), ""
    )
    begin = len(opening)
    end = len(rest) - len(closing)
    body = without_refusal_words(rest[begin:end])
    found: dict[int, str] = {}
    for sentence in SENTENCE.finditer(body):
        for piece in re.finditer(r"[^\x01]+", sentence[0]):
            words = GLUE.sub("", GLUE.sub("", piece[0].strip())).strip(" .,!?")
            is_first = not opening and sentence.start() == 0 and chr(1) not in sentence[0]
            if len(words) >= SHORTEST and re.search(r"\w+ \w+ \w+", words):
                if is_first and any(known):
                    opening = sentence[0].strip()
                    continue
                found[rest.find(words, begin)] = words
    return opening, found


def _begun(text: str, form: str) -> str | None:
    """The beginning of a text that an opening makes."""
    pieces = [re.escape(piece) for piece in HOLE.split(form)[:: HOLE.groups + 1]]
    found = re.match(r"[^\x01.!?]{1,60}?".join(pieces), text) if form else None
    return found[0] if found else None
