"""Where a text names something: a person, a title, a plate, a room."""

import re
from collections.abc import Collection, Iterator

from servers.answer.text import folded
from servers.answer.vocabulary import WEEKDAYS, alternatives, word_set

_PARTS = re.compile(r"[^\W\d_]+|\d+")
_TOKEN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_COMMON = word_set(
    "the a an of in on at for to and or with by from de la le der die das des du van von el dr mr mrs ms prof "
    "section room no number day days week table seat house street st new old"
)


def occurrences(text: str, name: str) -> Iterator[tuple[int, int]]:
    """Where a folded text has a name as a whole, whatever stands between its letters and digits."""
    parts = _PARTS.findall(folded(name))
    if not parts:
        return
    if folded(name) in WEEKDAYS:
        same = alternatives(word for word, number in WEEKDAYS.items() if number == WEEKDAYS[folded(name)])
        yield from (found.span() for found in re.finditer(rf"(?<!\w)(?:{same})s?(?!\w)", text))
        return
    last = parts[-1]
    if last.isalpha() and len(last) > 3:
        stem = last[:-1] + "(?:y|ies)" if last.endswith("y") else last.removesuffix("s") + "(?:s|es|n|en|'s)?"
        parts = [*map(re.escape, parts[:-1]), stem + "(?:'s|')?"]
    else:
        parts = [*map(re.escape, parts[:-1]), re.escape(last) + "(?:'s|s')?"]
    pattern = r"[^\w\n]{0,3}".join(parts)
    before = r"(?<![\w])(?<!\d[.,:/])" if parts[0][0].isdigit() else r"(?<!\w)"
    after = r"(?!\w)(?![.,:/]\d)" if last.isdigit() else r"(?!\w)"
    for found in re.finditer(before + pattern + after, text):
        yield found.start(), found.end()


def distinctive(name: str, others: Collection[str]) -> list[str]:
    """The words of a name that none of some others has: enough to know it by."""
    words = _TOKEN.findall(folded(name))
    if len(words) < 2:
        return []
    known = {stem(word) for other in others for word in _TOKEN.findall(folded(other))}
    return [
        word
        for word in words
        if stem(word) not in known and word not in _COMMON and len(word) > 2 and not word.isdigit()
    ]


_ENDINGS = ("ing", "ed", "es", "s", "e")


def root(word: str) -> str:
    """A word without the ending of its plural or of a form of its verb: "expir" of "expires" and of "expiring"."""
    return next((word[: -len(end)] for end in _ENDINGS if word.endswith(end) and len(word) > len(end) + 2), word)


def stem(word: str) -> str:
    """A word without the ending of its plural."""
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    return word.removesuffix("'s").removesuffix("s") if len(word) > 3 else word


def named(text: str, name: str, others: Collection[str] = ()) -> list[tuple[int, int]]:
    """Where a text names something, by its whole name or a word that is its own."""
    found = list(occurrences(text, name))
    for word in distinctive(name, others):
        found += [place for place in occurrences(text, word) if not any(a <= place[0] < b for a, b in found)]
    return sorted(found)
