"""The text of a task: filled templates in one person's voice, with everything that cannot be looked up."""

import re
from dataclasses import dataclass
from random import Random
from typing import Any

from servers.bundle.phrases import HOLE, Phrases, Speaking, Voice, is_named
from synth.solutions.value_texts import counted, said

ARTICLE = re.compile(r"(?<=\ba) (?=[aeio](?!ne\b|nce\b)[a-z])")
"""The place of an `n` to insert: `a advising hold`."""
OPTIONAL = re.compile(r"\[(?:(!?)(\w+):)?([^\[\]]*)\]")
NO_ORDER = re.compile(r"(?i)(?:(?:an?|as|for|having|i|in|it|on|since|the|there|this|we|with)\b|\{\w+_(?:by|id)\})")
"""Beginnings of templates that do not fit after `please`: such a template is a sentence of its own."""
PLAIN_VOICE = Voice(
    open=("Good morning.", "Hello.", "There is something I need done.", "Could you help me with this?", ""),
    close=("", "Thank you.", "", "Thanks a lot."),
)
STARTS = ("Please {}.", "Could you {}?", "Please {}.", "I need you to {}.")
LATER = ("Then {}, please.", "Please also {}.", "After that, please {}.", "And {}, please.")
PLAIN_STARTS = ("Please {}.", "I'd like you to {}.")
PLAIN_LATER = ("Please also {}.", "After that, please {}.", "Then please {}.")
JOINED = ("Please {}, and then {}.", "Could you {} and {}?", "Please {} and {}.")
TELLING = ("Tell me {}.", "Let me know {}.", "At the end, tell me {}.", "I also need to know {}.")
TELLING_MORE = ("Tell me {} and {}.", "Let me know {}, and {}.")
NOT_POSSIBLE = (
    ("If that can't be done, leave it as it is", " and tell me exactly why, with the dates or amounts that matter"),
    (
        "Should that not be possible, change nothing about it",
        " and tell me what stands in the way, with any date or amount",
    ),
)
"""The words of earlier tasks for parts that cannot be done, and for the question about the reason. They gave away that
something is refused, so new tasks do not use them."""
ANY_NOT_POSSIBLE = (
    ("If something of this can't be done, leave that part", " and tell me exactly why, with any dates or amounts"),
    (
        "Should one of these not be possible, skip it",
        " and tell me what stands in the way, with any date or amount",
    ),
)
EARLIER_REPORTS = (
    "Write back what went through; where something didn't, give me the reason with its dates or amounts.",
    "Send me a short account afterwards, with the dates and amounts behind anything that did not work out.",
    "I'll pass on how it went, so tell me what was done and, for anything that wasn't, the date or amount behind it.",
    "Let me know what came of it. For whatever stays undone I need the reason, with dates or amounts.",
)
"""Formulas of earlier tasks. Nobody speaks so, and every agent reads anyway that a reason has its date or amount."""
REPORTS = (
    "Let me know if anything doesn't work, and why.",
    "If something doesn't go through, tell me why.",
    "Let me know how it went, and why if something didn't work.",
    "Tell me if there is a hitch anywhere, and why.",
)
"""The question for the outcome. As many tasks in which nothing is refused have it, so it tells nothing."""


@dataclass(frozen=True)
class TemplateValues:
    """The values for one command's template: words by argument, and the arguments' own values."""

    words: dict[str, str]
    arguments: dict[str, Any]


def filled(template: str, values: TemplateValues) -> str | None:
    """A template with its holes filled. None if it needs an argument that is not given."""
    text = OPTIONAL.sub(lambda part: _optional(part, values), template)
    missing = [hole["name"] for hole in HOLE.finditer(text) if hole["name"] not in values.words]
    if missing:
        return None
    said = re.sub(" {2,}", " ", HOLE.sub(lambda hole: _word(hole, values), text)).strip()
    return f"{said}." if NO_ORDER.match(template) and not _is_whole(said) else said


def _optional(part: re.Match[str], values: TemplateValues) -> str:
    if part[2] is not None:
        return part[3] if (values.arguments.get(part[2]) is True) == (part[1] == "") else ""
    return part[3] if all(values.arguments.get(hole["name"]) for hole in HOLE.finditer(part[3])) else ""


def _word(hole: re.Match[str], values: TemplateValues) -> str:
    name, value = hole["name"], values.arguments.get(hole["name"])
    if hole["one"] and isinstance(value, int):
        return counted(value, hole["one"], hole["many"] or f"{hole['one']}s")
    word = values.words[name]
    return word[:1].lower() + word[1:] if hole["small"] else word


def words_of(arguments: dict[str, Any], spoken: dict[str, str], *, clock: str, phrases: Phrases) -> dict[str, str]:
    """Words for every argument: the chosen ones for rows, and plain values as people write them."""
    return {
        name: spoken.get(name) or said(name, value, clock=clock, currency=phrases.currency, words=phrases.words)
        for name, value in arguments.items()
    }


def composed(
    phrases: Phrases,
    voice: Speaking,
    name: str,
    clauses: list[str],
    tells: list[str],
    *,
    wants_report: bool = False,
    random: Random,
) -> str:
    """The whole task. It may ask for the outcome of each part."""
    manner = phrases.voices.get(voice, PLAIN_VOICE)
    sentences = _sentences(clauses, random)
    if len(tells) == 1:
        sentences.append(random.choice(TELLING).format(tells[0]))
    elif tells:
        sentences.append(random.choice(TELLING_MORE).format(tells[0], tells[1]))
    if wants_report:
        sentences.append(random.choice(REPORTS))
    named = [opening for opening in manner.open if is_named(opening)] if name and voice == "chores" else []
    opening = random.choice(named or manner.open).replace("{name}", name)
    closing = random.choice(manner.close)
    if opening.endswith((":", ",")) and not re.match(r"I\b", sentences[0]):
        sentences[0] = sentences[0][:1].lower() + sentences[0][1:]
    task = " ".join(part for part in (opening, *sentences, closing) if part)
    return ARTICLE.sub("n ", re.sub(r"(?<!\.)\.\.(?!\.)", ".", re.sub(" {2,}", " ", task)))


def without_question(task: str) -> str:
    """The task without the question for a reason."""
    for _, why in (*NOT_POSSIBLE, *ANY_NOT_POSSIBLE):
        task = task.replace(why, "")
    for report in (*REPORTS, *EARLIER_REPORTS):
        task = task.replace(f" {report}", "")
    return task


def without_refusal_words(task: str) -> str:
    """The task without the words for parts that cannot be done, and without the question for the outcome."""
    for begin, why in (*NOT_POSSIBLE, *ANY_NOT_POSSIBLE):
        task = task.replace(f"{begin}{why}.", "").replace(f"{begin}.", "").replace(begin, "")
    for report in (*REPORTS, *EARLIER_REPORTS):
        task = task.replace(report, "")
    return task


def _sentences(clauses: list[str], random: Random) -> list[str]:
    found: list[str] = []
    at = 0
    later = random.sample(LATER, len(LATER))
    plain_later = random.sample(PLAIN_LATER, len(PLAIN_LATER))
    while at < len(clauses):
        clause = clauses[at]
        if _is_whole(clause):
            found.append(_first_up(clause))
        elif at + 1 < len(clauses) and _go_together(clause, clauses[at + 1]) and random.random() < 0.6:
            found.append(_first_up(random.choice(JOINED).format(clause, clauses[at + 1])))
            at += 1
        else:
            simple = not any(mark in clause for mark in ",;:")
            starts, goes_on = (STARTS, later) if simple else (PLAIN_STARTS, plain_later)
            before = found[-1].split(" ")[0] if found else ""
            fresh = [form for form in goes_on if form.split(" ")[0] != before]
            start = random.choice(starts) if at == 0 else fresh[at % len(fresh)]
            found.append(_first_up(start.format(clause)))
        at += 1
    return found


def _is_whole(clause: str) -> bool:
    """True if a clause is a sentence of its own."""
    return clause.endswith((".", "!", "?"))


def _go_together(first: str, second: str) -> bool:
    """True if two clauses can be joined without a misreading."""
    return not _is_whole(second) and not any(mark in clause for clause in (first, second) for mark in ",;:(")


def _first_up(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
