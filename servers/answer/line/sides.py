"""A grammar of yes and no: the word alone, or before a clause that says the question again and nothing against it."""

import re

from servers.answer.line.names import is_side
from servers.answer.names import root, stem
from servers.answer.text import words
from servers.answer.vocabulary import word_set

_SIDE_FIRST = re.compile(r"(?P<side>[^\W\d_]+)(?P<clause>(?: ?[,.:(-] ?| ).*)?")
_SIDE_LAST = re.compile(r"(?P<clause>.+): (?P<side>[^\W\d_]+)")
_NOT = word_set("not no never cannot can't won't nothing none nobody without hardly")
_LITTLE = word_set(
    "the a an it its it's this that these those they their he his she her you your we our i my there is are was were "
    "be been being has have had do does did will would can could may might must need needs needed to of for in on at "
    "by with from as and already still yet now any so"
)
"""Words that a clause may have that the question lacks. They deny nothing, doubt nothing and name nothing."""
_DOUBT = word_set("or if unless except but may might could would")
_SIGNS = re.compile(r"\.{2}|[^\w\s.,:()'\"&-]")
MOST_WORDS = 60


def side_of(part: str, subject: str) -> bool | None:
    """Whether a folded part of the line says yes to a question. None if it says neither as a whole."""
    alone = is_side(part)
    if alone is not None:
        return alone
    for form in (_SIDE_FIRST, _SIDE_LAST):
        found = form.fullmatch(part)
        side = is_side(found["side"]) if found else None
        if found is not None and side is not None:
            clause = found["clause"] or ""
            denials = _denials(clause, subject)
            is_label = form is _SIDE_LAST or (not side and clause.startswith(" ") and clause[1:2].isalpha())
            return side if denials is not None and denials == (0 if side or is_label else 1) else None
    return None


def _denials(clause: str, subject: str) -> int | None:
    """How often a clause says "not". None if it says anything that the question does not."""
    told, asked = words(clause), words(subject)
    if _SIGNS.search(clause) or len(told) > MOST_WORDS or any(_is_denial(word) for word in asked):
        return None
    known = {root(stem(word)) for word in asked}
    denials = [word for word in told if _is_denial(word)]
    others = [word for word in told if not _is_denial(word)]
    if any(word in _DOUBT and word not in asked for word in others):
        return None
    if not all(word in _LITTLE or root(stem(word)) in known for word in others):
        return None
    return len(denials)


def _is_denial(word: str) -> bool:
    return word in _NOT or word.endswith("n't")
