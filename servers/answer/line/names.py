"""Grammars of names, lists of them, yes and no, and nothing such."""

import re
from collections.abc import Collection, Sequence

from servers.answer.names import distinctive, stem
from servers.answer.text import folded
from servers.answer.vocabulary import word_set

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_TITLES = word_set("mr mrs ms miss dr prof herr frau the a an")
_YES = word_set("yes yep yeah yup ja oui si true indeed jawohl")
_NO = word_set("no nope nein non nee false")
_NONE = frozenset(
    (
        *("none", "nothing", "nobody", "no one", "no-one", "no", "zero", "nil", "0", "none of them", "there is none"),
        *("there are none", "nothing at all", "not any", "keine", "keiner", "nichts", "niemand", "aucun", "aucune"),
        *("rien", "personne", "ninguno", "ninguna", "nada", "nadie", "nessuno", "niente"),
    )
)


def is_name(text: str, names: Sequence[str], others: Collection[str]) -> bool | None:
    """Whether a folded text is one of some names, or the words of one that no other has. None if it is no such name.

    A title or an article may stand before it.
    """
    told = _parts(_without_title(text))
    if not told:
        return None
    if any(_reads(form, name) for form in (text, _without_title(text)) for name in names):
        return True
    for name in names:
        whole = _parts(name)
        own = {stem(word) for word in distinctive(name, others)} if others else set[str]()
        is_run = any(whole[at : at + len(told)] == told for at in range(len(whole)))
        if is_run and own & {stem(part) for part in told} and _reads(_without_title(text), " ".join(told)):
            return True
    return None


def is_part(name: str, other: str) -> bool:
    """Whether the words of one of two names stand in a row in the other: two names of one thing."""
    short, long = sorted((_parts(name), _parts(other)), key=len)
    return bool(short) and any(long[at : at + len(short)] == short for at in range(len(long)))


def _reads(text: str, name: str) -> bool:
    """Whether a text is a name as a whole, whatever stands between its letters and digits."""
    parts = _parts(name)
    if not parts:
        return folded(name).strip() == text.strip()
    *most, last = map(re.escape, parts)
    signs = r"[\s.'\",:/&()+_-]{0,3}"
    ending = "(?:'s|s'|s)?" if last.isalpha() and len(last) > 3 else ""
    return re.fullmatch(signs.join((*most, last)) + ending + "[.'\")]?", text.lstrip("'\"(")) is not None


def _without_title(text: str) -> str:
    first, space, rest = text.partition(" ")
    return _without_title(rest) if space and first.rstrip(".") in _TITLES else text


def _parts(name: str) -> list[str]:
    return _PARTS.findall(folded(name))


def is_side(text: str) -> bool | None:
    """Whether a folded text is yes. None if it is neither yes nor no."""
    return True if text in _YES else False if text in _NO or text == "not yet" else None


def says_none(text: str) -> bool:
    """Whether a folded text says that there is nothing such."""
    return text in _NONE
