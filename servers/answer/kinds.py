"""Kinds of amounts, counts and dates: a fee is no deposit. Words beside a value name its kind, and words of a question
the kind that is asked for."""

import re
from typing import NamedTuple

from servers.answer.fact import FactType


class Kind(NamedTuple):
    """One kind of value."""

    told: re.Pattern[str]
    """Words beside a value that say that it is of this kind."""
    asked: re.Pattern[str]
    """Words of a question that a value of this kind may answer."""
    decides: bool = False
    """Whether it is of this kind whatever else is said of it: "608 more than before"."""


def _kind(told: str, asked: str, *, decides: bool = False) -> Kind:
    return Kind(re.compile(rf"\b(?:{told})\b"), re.compile(rf"\b(?:{asked})"), decides)


_DEAR = (
    "cost|charg|price|fee|pay|paid|tuition|due\\b|come|bill|room|stay|spen[dt]|worth|open|sum|total|amount|take|took"
)

KINDS: dict[FactType, tuple[Kind, ...]] = {
    "amount": (
        _kind(r"(?<!monthly )(?<!membership )fees?", "fee|cost|charg|price|pay|paid|tuition|penalt|fine|no-show|take"),
        _kind(r"prices?|costs?|costing", _DEAR),
        _kind(r"charg(?:e|es|ed|ing)", _DEAR),
        _kind(r"worth|valued?|values", "worth|value|price|cost|claimed|amount|request"),
        _kind(r"insured|insurance|premium|covers?|covered|covering", "insur|cover|premium|certificate"),
        _kind(
            r"(?<!would )(?:has|have|had|'ve) (?:\w+ )?paid|paid (?:so far|already)|already paid",
            r"(?<!to be )pa(?:id|ys?\b|ment|ying)",
        ),
        _kind(
            r"owes?|owed|outstanding|still open|left to pay|unpaid|to be paid|to pay",
            "ow[en]|open|outstanding|balance|left|unpaid|" + _DEAR,
        ),
        _kind(r"refund\w*|repaid|(?:gets?|got|given?|goes|go) (?:[^.;]{1,40} )?back", "refund|back|return|repa|credit"),
        _kind(r"deposits?", "deposit|held|hold"),
        _kind(r"excess|deductible", "excess|deductible|share"),
        _kind(r"claimed", "claim"),
        _kind(r"estimate[ds]?|quote[ds]?|offered", "estimat|quote|offer"),
        _kind(r"settle(?:s|d|ment)?", "settle|payable|approv|pa[iy]|claim"),
        _kind(r"at most|maximum|limit|ceiling", "most|limit|maxim|ceiling|may|can"),
        _kind(r"tuition", "tuition|" + _DEAR),
        _kind(r"certificates?", "certificat|cover|insur", decides=True),
        _kind(r"reminder", "reminder", decides=True),
        _kind(r"damage|repairs?", "damage|repair|claim|order|loss|deposit", decides=True),
        _kind(r"discount|reduction", "discount|reduc"),
        _kind(r"budget", "budget|left|spen"),
        _kind(r"tax(?:es)?|vat", "tax|vat"),
        _kind(r"salary|wages?", "salar|wage"),
        _kind(r"overpaid|overpayment|too much", "over|too much|refund|back"),
        _kind(
            r"difference (?:is|was|of|comes|to pay)|surcharge|extra|in addition|on top|(?:more|higher) than before",
            "differ|surcharg|extra|addition|adds?\\b|added|adjust|change|on top",
        ),
        _kind(
            r"(?:goes up by|rises by|rose by|went up by)|(?:comes |is )?on top (?:of)?|more than before",
            "differ|surcharg|extra|addition|adjust|change|on top",
            decides=True,
        ),
    ),
    "count": (
        _kind(
            r"room for|capacity|can (?:take|hold|have|seat)|at most|limit|maximum|quota",
            r"room|hold|capacity|can\b|may\b|most|limit|quota|seats",
        ),
        _kind(
            r"booked|occupied|taken|filled|sold",
            r"booked|occupied|filled|sold|had\b|were|(?<!can )took|(?<!can )taken|places",
        ),
        _kind(
            r"free|vacant|available|left|remain\w*",
            "free|vacan|left|remain|avail|open|still|can|may|now|more|after|have|has|hold|lost",
        ),
        _kind(
            r"in stock|on the shelf|in the fridge|in store|on hand|in reserve|in quarantine",
            r"have|hold|left|now\b|stock|shelf|after|remain|free|correction|come in|there|block|quarantine|has|again"
            "|used",
        ),
        _kind(
            r"at the moment|currently|so far|already|at present",
            r"(?!.*\b(?:room|may|can|most|limit)\b)(?:.*\b)?"
            r"(?:now|current|present|so far|are|open|wait|have|has|come|there|left|reserved|booked|taken|were)",
        ),
        _kind(
            r"still to (?!be \w+ed\b)|missing|still needed|would need|to follow|to come|short of",
            "still|miss|outstand|to be|open|need|more\\b|short",
        ),
        _kind(
            r"(?:put|are|is|went|goes|go) (?:\d+ \w+ )?(?:from .{0,60})?back on (?:the|their|its) shel\w+|handed back",
            "back|return|again|left|have|now\\b",
        ),
        _kind(r"lost|destroyed|discarded|thrown away|missed", "lost|lose|destroy|discard|gone|thrown|miss"),
        _kind(r"set aside|put aside", "aside|reserv|block|kept|hold"),
        _kind(r"wait(?:s|ing)?|waitlist\w*", "wait|line|list|people"),
    ),
    "date": (
        _kind(r"payable|payment|to be paid(?: for)?|to pay", "pay|paid|due", decides=True),
        _kind(r"certificates?", "certificat|insur", decides=True),
        _kind(r"insur\w+", "certificat|insur", decides=True),
        _kind(r"warranty|guarantee", "warrant|guarant", decides=True),
        _kind(r"contract|lease|licen[cs]e", "contract|lease|licen|term", decides=True),
        _kind(r"deposit", "deposit", decides=True),
        _kind(r"breakfast|parking", "breakfast|parking", decides=True),
        _kind(r"minimum term", "minimum|term", decides=True),
        _kind(r"courier", "courier|trip", decides=True),
        _kind(
            r"issued|granted|made out",
            "issu|grant|made out",
        ),
        _kind(r"reported|registered|entered(?! (?:our|the|into))|signed", "report|regist|enter|sign"),
        _kind(r"(?<!the )ordered", "order"),
        _kind(r"closed|settled|resolved", "clos|settl|resolv|off"),
        _kind(r"donated|born|bought", "donat|born|bought"),
        _kind(
            r"took in|taken in|came in|come in|received|arrived|delivered",
            "took|taken?\\b|came|come|receiv|arriv|deliver|there|here|ready",
        ),
        _kind(
            r"until|till|ends?|ended|runs?|lasts|last day|expire[sd]?|valid|through|good|up to|over|rests?|frozen"
            "|keeps?",
            "until|till|up to|end|last|expir|valid|run|long|kept|keep|frozen|freez|due|when|good|through|stay",
        ),
        _kind(
            r"due|by|deadline|latest|no later",
            "due|by when|back|deadline|latest|last day|first|visit|when|until|up to|long",
        ),
        _kind(
            r"starts?|begins?|began|begun|opens?|first day|starting|beginning|since",
            "start|beg[iu]n|first|open|since|from|day of",
        ),
        _kind(r"sent|shipped|dispatched|gone out|went out|left", "sent|ship|dispatch|gone|went|left|goes"),
    ),
}


def other_kind(clause: str, subject: str, kind: FactType, before: str = "") -> str:
    """The words of a clause that say that its value is of another kind than the one asked for, or none.

    None are said where the question names no known kind, or where one of the kinds that the clause names answers it.
    `before` is what the clause points back at.
    """
    known = KINDS.get(kind, ())
    asked = [one for one in known if one.asked.search(subject)]
    if not asked:
        return ""
    for one in known:
        found = one.told.search(f"{before} {clause}") if one.decides and one not in asked else None
        if found:
            return found[0]
    told = [(one, found[0]) for one in known if (found := one.told.search(clause))]
    return "" if any(one in asked for one, _ in told) else next((words for _, words in told), "")
