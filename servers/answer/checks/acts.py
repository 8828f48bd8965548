"""What is said to have happened to a value: what went is not what is left, and what is left out is not what is done."""

import re

from servers.answer.vocabulary import alternatives

_ACTS = {
    "excluded": "left out|leave out|leaving out|skip|skips|skipped|omit|omits|omitted|excluded|spared",
    "stays": "left|leave|leaves|leaving|remain|remains|remained|stay|stays|stayed|keep|keeps|kept",
    "goes": "went|gone|go|goes|going|send|sends|sent|ship|ships|shipped|dispatched|posted|handed out|given out|"
    "gave out|take out|takes out|taken out|took out|taken|took|take|used up|sold|withdrawn|removed|moved|lent",
    "comes": "came|arrived|received|delivered|brought back|came back|came in|take in|taken in|took in|takes in",
    "is paid": "paid|settled|transferred",
    "is due": "owe|owes|owed|payable|unpaid|outstanding|open|due",
    "is done": "repaired|closed|finished|completed|fixed|solved|resolved",
    "begins": "come|comes|visit|visits|visited|start|starts|started|begin|begins|began",
}
_OPPOSITES = {
    "stays": ("goes", "comes"),
    "goes": ("stays", "comes"),
    "comes": ("stays", "goes"),
    "is paid": ("is due",),
    "is due": ("is paid",),
    "is done": ("begins",),
    "begins": ("is done",),
}
"""An act, and those that it is not."""
_ASKED_TOO = {"comes": r"|t[ao]ok?e?n? \w+ in"}
"""Other words of questions for an act: "took it in"."""
_WORDS = {act: re.compile(rf"\b(?:{words}{_ASKED_TOO.get(act, '')})\b") for act, words in _ACTS.items()}
_ACT_OF = {words: act for act, group in _ACTS.items() for words in group.split("|")}
_ANY = alternatives(_ACT_OF)
_TO_PAY = re.compile(
    r"\b(?:(?:to|must|would|will|can)(?: still)? be|not(?: been| yet)*|have(?: \w+)? to be) paid\b|\bto pay\b"
)
_BEHIND = re.compile(
    r" ?(?:[^\W\d_]+ ){0,3}?(?:(?:is|are|was|were|has|have|had|will|would|be|been|must|to|also|already|just|now|all) )*"
    rf"(?P<act>{_ANY})\b"
)
_IN_FRONT = re.compile(
    rf"\b(?P<act>{_ANY})(?: (?:out|up|off|back|in|away))?"
    r"(?: (?:the|your|all|only|just|exactly|another|a|of|by|on|until|at|no later than))* ?[$€£]?$"
)


def is_another_act(before: str, behind: str, subject: str) -> bool:
    """Whether something else is said to have happened to a value than what a question asks for.

    `before` and `behind` are the words around the value up to where another thought begins.
    """
    before, behind, subject = (_TO_PAY.sub("payable", text) for text in (before, behind, subject))
    asked = {act for act, words in _WORDS.items() if words.search(subject)}
    found = _BEHIND.match(behind) or _IN_FRONT.search(before)
    told = _ACT_OF[found["act"]] if found else ""
    if told == "excluded":
        return told not in asked
    others = asked & set(_OPPOSITES.get(told, ()))
    return told not in asked and bool(others) and not any(_WORDS[one].search(f"{before} {behind}") for one in others)
