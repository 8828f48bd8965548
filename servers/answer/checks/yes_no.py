"""Yes or no, and that there is nothing such."""

import re

from servers.answer.checks.reply import FoldedReply, sentences
from servers.answer.expected_fact import ExpectedFact
from servers.answer.names import named
from servers.answer.question import FactVerdict
from servers.answer.stance import DOUBT, REFUSAL

_YES = ["yes", "yep", "yeah", "yup", "ja", "oui", "si", "true", "indeed", "certainly", "correct", "jawohl"]
_NO = ["no", "nope", "nein", "non", "nee", "false"]
_SIDE = re.compile(
    rf"(?:^|[:,;.-] ?|\b(?:and|but|so|und|y|et) )\W{{0,9}}(?P<word>{'|'.join((*_YES, *_NO))})(?=[,.!:;]| -|$)"
    rf"|^\W*(?P<yet>not yet)\b"
)
_NONE = re.compile(
    r"\b(?:none|nothing|no one|nobody|no|not (?:\w+ )?(?:any|a single|one)"
    r"|not anything|neither|zero|nil|empty|kein\w*|nichts|aucun\w*|rien|ningun\w*|nada|nessun\w*"
    r"|niente|pas de|don't have|isn't|aren't)\b"
    r"|n't (?:\w+ )?(?:any|a single|anything|one)\b|(?<!\w)(?:0|\[\]|n't any)(?!\w)"
)
_DENIAL = re.compile(
    r"\b(?:not|never|no|none|nothing|nobody|neither|nor|without|cannot|all|only|kein\w*|nicht|pas|aucun\w*"
    r"|ningun\w*)\b|n't\b"
)
_EXCEPT = re.compile(r"\b(?:but|except|apart from|besides|other than)\b")


def tells_side(reply: FoldedReply, one: ExpectedFact) -> FactVerdict:
    """Whether it answers a question of yes or no by such a word, and stays with it."""
    name = one.fact.name
    parts = [part for part in sentences(reply) if not part.endswith("?") and not REFUSAL.search(part)]
    found = [match["word"] or "no" for part in parts for match in _SIDE.finditer(part)]
    sides = {word in _YES for word in found}
    if not sides:
        return FactVerdict(False, f"{name}: neither yes nor no")
    if len(sides) > 1:
        return FactVerdict(False, f"{name}: both yes and no")
    if _is_taken_back(reply, found) or any(DOUBT.search(part) for part in sentences(reply)):
        return FactVerdict(False, f"{name}: it hedges")
    is_so = sides == {bool(one.values[0])}
    return FactVerdict(is_so, "" if is_so else f"{name}: it tells the opposite")


def _is_taken_back(reply: FoldedReply, found: list[str]) -> bool:
    """Whether a correction stands behind the word that answers, or in the middle of a sentence."""
    first = min(reply.folded.find(word) for word in (*found, "not yet") if word in reply.folded)
    return any(at > first or len(reply.folded[reply.text.sentence(at)[0] : at].split()) > 1 for at in reply.corrections)


def tells_none(reply: FoldedReply, one: ExpectedFact) -> FactVerdict:
    """Whether it tells that there is nothing such, and names nothing."""
    name = one.fact.name
    others = [str(value) for value in one.confusable]
    for other in others:
        for start, end in named(reply.folded, other, [value for value in others if value != other]):
            first, last = reply.text.sentence(start)
            sentence = reply.folded[first:last]
            denied = _DENIAL.search(sentence) and not _EXCEPT.search(sentence)
            if reply.stance(start, end) in ("told", "doubted") and not denied:
                return FactVerdict(False, f"{name}: it tells {other!r}")
    parts = sentences(reply)
    said = [part for part in parts if _NONE.search(part) and not REFUSAL.search(part)]
    if not said:
        return FactVerdict(False, f"{name}: it does not tell that there is none")
    if reply.corrections or "?" in reply.folded or any(DOUBT.search(part) for part in said):
        return FactVerdict(False, f"{name}: it hedges")
    return FactVerdict(True)
