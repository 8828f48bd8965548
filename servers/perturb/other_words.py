"""Other names for tools and arguments, and other words for their descriptions, by rule and seed. No model writes them.

An API keeps one style: all names of a perturbation are made in the same one.
"""

import re
from collections.abc import Collection, Sequence
from random import Random
from typing import Literal

Style = Literal["synonym", "camel", "noun_first"]
STYLES: tuple[Style, ...] = ("synonym", "noun_first", "camel")
VERBS = {
    "add": "create",
    "assign": "allocate",
    "cancel": "call_off",
    "check": "verify",
    "extend": "prolong",
    "find": "search",
    "get": "fetch",
    "issue": "hand_out",
    "list": "get_all",
    "mark": "flag",
    "move": "shift",
    "receive": "take_in",
    "record": "log",
    "refund": "pay_back",
    "register": "enrol",
    "release": "let_go",
    "remove": "delete",
    "request": "ask_for",
    "reserve": "hold",
    "send": "dispatch",
    "show": "view",
    "withdraw": "take_back",
}
"""The first word of a tool's name, and one that says the same and nothing else."""
PARTICLES = frozenset({"in", "out", "on", "off", "up", "back", "away", "over", "down"})
"""Words that belong to the verb before them: `check_in`."""
ENDS = {"_id": "_ref", "_ids": "_refs", "_on": "_date", "_at": "_time", "_by": "_actor", "_cents": "_in_cents"}
WORDS = {
    "amount": "sum",
    "date": "on_date",
    "day": "on_day",
    "decision": "verdict",
    "description": "details",
    "email": "mail_address",
    "kind": "type_of",
    "name": "called",
    "number": "no",
    "phone": "phone_number",
    "priority": "urgency",
    "reason": "why",
    "role": "function",
    "status": "state",
    "text": "words",
    "units": "quantity",
}
PHRASES = (
    (re.compile(r"\bas YYYY-MM-DD\b"), "written YYYY-MM-DD"),
    (re.compile(r"\be-mail address\b"), "email"),
    (re.compile(r"\bupper and lower case are the same\b"), "case does not matter"),
    (re.compile(r"^Only (?=\w)"), "Limits the result to "),
    (re.compile(r"\bat most\b"), "no more than"),
    (re.compile(r"\bat least\b"), "no fewer than"),
    (re.compile(r"; (?=[a-z])"), " - "),
)
FRAMES = ("Use this to {}", "Lets you {}", "With this you can {}")
NO_VERBS = frozenset({"A", "An", "All", "Each", "Every", "If", "No", "The", "This", "What", "When", "Which"})
NAMED = re.compile(r"`(\w+)`")


def other_name(name: str, style: Style, taken: Collection[str]) -> str:
    """Another name for a tool, which none of `taken` is. The next style is used if the first one has none."""
    for one in (style, *STYLES):
        other = _in_style(name, one)
        if other not in taken and other != name:
            return other
    return next(f"{name}_{number}" for number in range(2, len(taken) + 3) if f"{name}_{number}" not in taken)


def other_argument(name: str, style: Style, taken: Collection[str]) -> str:
    """Another name for an argument. A name for which there is no other stays."""
    if style == "camel":
        other = _camel(name)
    else:
        end = next((end for end in ENDS if name.endswith(end)), "")
        other = name.removesuffix(end) + ENDS[end] if end else WORDS.get(name, name)
    return name if other in taken else other


def _in_style(name: str, style: Style) -> str:
    verb, underscore, rest = name.partition("_")
    if style == "camel" or rest.partition("_")[0] in PARTICLES:
        return _camel(name)
    if style == "noun_first":
        return f"{rest}_{verb}" if underscore else f"{name}_now"
    return f"{VERBS[verb]}_{rest}" if underscore and verb in VERBS else f"{rest}_{verb}" if underscore else name


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


def reworded(text: str, random: Random, *, is_order: bool) -> str:
    """A description in other words: a frame around its first sentence, and phrases that say the same.

    `is_order`: it says what to do, as the description of a tool does.
    """
    if is_order:
        is_noun = text.partition(" ")[0] in NO_VERBS
        text = f"Purpose: {text}" if is_noun else random.choice(FRAMES).format(text[0].lower() + text[1:])
    for pattern, other in PHRASES:
        text = pattern.sub(other, text)
    return NAMED.sub(r'"\1"', text)


def with_names(text: str, names: dict[str, str]) -> str:
    """A text with names in place of others, as whole words. A name of a single word counts in backticks alone."""
    if not names:
        return text
    own = sorted((name for name in names if "_" in name), key=len, reverse=True)
    if own:
        pattern = r"(?<!\w)(?:" + "|".join(map(re.escape, own)) + r")(?!\w)"
        text = re.sub(pattern, lambda found: names[found[0]], text)
    return NAMED.sub(lambda found: f"`{names.get(found[1], found[1])}`", text)


def shuffled(names: Sequence[str], random: Random) -> list[str]:
    """Names in another order."""
    return random.sample(names, len(names))
