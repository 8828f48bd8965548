"""Which values an answer tells beside the right one: joined to it, listed with it, or in the same words."""

import re
from collections.abc import Iterator, Sequence

from servers.answer.checks.fact_values import FactValues
from servers.answer.checks.rivals import (
    PARTICLES,
    is_counted,
    is_mere_weekday,
    is_of_named_other,
    is_range,
    is_stranger,
    rivals,
)
from servers.answer.mention import Mention

_SPAN = re.compile(r"\b(?:between|zwischen|entre) (?:the )?$")


def disputes(values: FactValues, told: Sequence[Mention], right: Sequence[Mention]) -> Iterator[str]:
    """Which other values are told as well."""
    bare = [one for one in values.reply.mentions if one.type == "number" and not one.unit]
    for other in {*values.there, *bare}.difference(right):
        if any(_is_joined(values, mention, other) for mention in told):
            yield f"it tells {values.reply.said(other)!r} as well"
    for other in values.there:
        if any(other.start < one.end and one.start < other.end for one in right):
            continue
        if any(_is_listed(values, mention, other) for mention in told):
            yield f"it tells {values.reply.said(other)!r} as well"
    for rival in rivals(values, right):
        if is_range(values, rival) or is_of_named_other(values, rival):
            continue
        if is_stranger(values, rival) and not is_counted(values, rival):
            yield f"it also tells {values.reply.said(rival)!r}"
        if _is_said_again(values, rival, told):
            yield f"it tells {values.reply.said(rival)!r} in the same words"


def _is_joined(values: FactValues, mention: Mention, rival: Mention) -> bool:
    """Whether two neighbours are joined by "or"."""
    between = values.between(mention.place, rival.place)
    if len(between) > 24 or re.search(r"\bor more|or less", between):
        return False
    is_number = mention.type == rival.type and mention.type in ("amount", "number")
    if is_number and re.fullmatch(r" ?(?:to|bis|-) ?", between):
        return True
    return re.fullmatch(r"[^.\n]*\b(?:or|oder|versus|vs)\b[^.\n]*| (?:o|ou) ", between) is not None


def _is_listed(values: FactValues, mention: Mention, rival: Mention) -> bool:
    """Whether two neighbours of one type are a mere list, and the other is no fact that is asked for."""
    between = values.between(mention.place, rival.place)
    before = values.reply.folded[: min(mention.start, rival.start)]
    if mention.type in ("date", "time") and _SPAN.search(before) and is_range(values, rival):
        return False
    is_bare = rival.type == "number" and (not rival.unit or rival.unit in PARTICLES)
    is_alike = mention.type == rival.type or (mention.type == "amount" and is_bare)
    if not is_alike or rival.is_weak or values.is_asked(rival) or (is_mere_weekday(rival) and values.may_stand(rival)):
        return False
    after = values.reply.folded[max(mention.end, rival.end) :]
    comma = "," if re.match(r" ?(?:$|[.,;!?)\n&]|and |or |und )", after) else ""
    joint = rf" ?(?:[/|&{comma}]|,? ?\band\b|,? ?\bund\b|\n-?) ?(?:the |by |on |at )?"
    return re.fullmatch(joint, between) is not None


def _is_said_again(values: FactValues, rival: Mention, told: Sequence[Mention]) -> bool:
    """Whether a sentence that tells a value is begun once more with another: "2 are left. … 3 are left"."""
    if values.is_asked(rival):
        return False
    line = values.reply.folded[values.reply.folded.rfind("\n", 0, rival.start) + 1 :].lstrip()
    return not line.startswith("-") and any(_same_words(values, mention, rival) for mention in told)


def _same_words(values: FactValues, mention: Mention, rival: Mention) -> bool:
    text = values.reply.folded
    first, last = values.reply.text.sentence(mention.start)
    other, end = values.reply.text.sentence(rival.start)
    before, after = text[first : mention.start].strip(), text[mention.end : last].strip(" .")
    return (
        other != first
        and before == text[other : rival.start].strip()
        and (len(before.split()) > 1 or after == text[rival.end : end].strip(" ."))
        and before + after != ""
    )
