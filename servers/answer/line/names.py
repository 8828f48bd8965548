"""Grammars of names, lists of them, yes and no, and nothing such."""

import re
from collections.abc import Collection, Sequence

from servers.answer.names import distinctive, stem
from servers.answer.text import folded
from servers.answer.vocabulary import word_set

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_ARTICLES = word_set("the a an")
_TITLES = word_set("mr mrs ms miss dr prof herr frau the a an")
_SIGN_WORDS = word_set("positive negative")
_SIGN = re.compile(r"(?<=[\w)]) ?([+-])(?=$|[\s,;.)])")
_ABBREVIATED = re.compile(r"\b(?:posi?tiv|pos|negativ|neg)\b\.?")
_RHESUS = re.compile(r"(?<= )(?:rh|rhd|rhesus)(?: factor)?(?: d)? (?=positiv|negativ|pos|neg)")
_YES = word_set("yes yep yeah yup ja oui si true indeed jawohl")
_NO = word_set("no nope nein non nee false")
_NONE = frozenset(
    (
        *("none", "nothing", "nobody", "no one", "no-one", "no", "zero", "nil", "0", "none of them", "there is none"),
        *("there are none", "nothing at all", "not any", "keine", "keiner", "nichts", "niemand", "aucun", "aucune"),
        *("rien", "personne", "ninguno", "ninguna", "nada", "nadie", "nessuno", "niente"),
    )
)


def is_name(text: str, names: Sequence[str], others: Collection[str], rivals: Collection[str] = ()) -> bool | None:
    """Whether a folded text is one of some names, or words of one that no other has. None if it is no such name.

    The first is the name itself; the others are no names where they are words of another thing's. A title or an
    article may stand before it. `others` are all that it is confused with. Of `rivals` nobody says that they are all.
    """
    known = (*others, *rivals)
    if _has_sign(names):
        text, names, known = _in_words(text), [_in_words(name) for name in names], tuple(map(_in_words, known))
    bare = _without_title(text)
    told = _parts(bare)
    if not told:
        return None
    for at, name in enumerate(names):
        is_told = any(_reads(form, name) for form in (text, bare)) or _reads(bare, _without_title(folded(name)))
        if is_told and not (at and any(_has(one, name) for one in known)):
            return True
    short = tuple(word for word in told if word not in _ARTICLES)
    for name in names if others and _reads(bare, " ".join(told)) else ():
        own = {stem(word) for word in distinctive(name, known)}
        if own & {stem(part) for part in short} and _is_in_order(short, _parts(name)):
            return True
    return None


def _is_in_order(short: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether the words of a short form stand in a name in the same order."""
    left = iter(whole)
    return all(word in left for word in short)


def _has(other: str, name: str) -> bool:
    """Whether another name has all words of a name in a row, and more."""
    short, long = _parts(name), _parts(other)
    return len(short) < len(long) and is_part(name, other)


def _has_sign(names: Collection[str]) -> bool:
    """Whether one of some names is positive or negative, which people write as a sign: `A+`."""
    return any(not _SIGN_WORDS.isdisjoint(_parts(name)) for name in names)


def _in_words(text: str) -> str:
    """A folded text with its signs in words: "a positive" of `A+`, of "A Rh pos."."""
    found = _RHESUS.sub("", _SIGN.sub(lambda sign: " positive" if sign[1] == "+" else " negative", folded(text)))
    return _ABBREVIATED.sub(lambda word: "positive" if word[0].startswith("pos") else "negative", found).strip()


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
