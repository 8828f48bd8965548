"""How a text stands to a value that it mentions: it tells it, denies it, doubts it, or asks about it."""

import re
from typing import Literal

from servers.answer.text import Text
from servers.answer.vocabulary import TENS, UNITS, alternatives

Stance = Literal["told", "denied", "doubted", "asked"]
_NOT = (
    r"(?:not|cannot|n't|never|neither|nor|no longer|rather than|instead of|other than|unlike|ahead of"
    r"|well before|without|no|nicht"
    r"|kein\w*|statt|nie|none of|instead of"
    r"|pas|n(?:e |')[^\W\d_]{1,12} plus|sin|no es|non|as opposed to|other (?:\w+ )?than|formerly|previously|originally"
    r"|replac(?:es?|ed|ing)(?! (?:as|at|by|for|from|in|of|on|till|to|until|with)\b))"
)
_FILLERS = (
    r"(?:(?: |'|\"|\(|:|-|the|a|an|on|at|in|by|for|to|of|is|be|been|was|are|it|its|it's|der|die|das"
    r"|den|dem|am|um|le|la|el|les|de|du|with|from|as|as of"
    r"|room|rooms|seat|seats|table|flight|section|slot|cost|costs|amount|amounting|come|comes|total"
    r"|due|exactly|just|any|have|has|get|gets|pay|pays|owe|owes|stand|start|starts|begin|begins|leave"
    r"|leaves|end|ends|until|available|possible|still|already|old|other|another|one|on the"
    r"|nur|mehr|am|zum|im|eur|€|nok|kr|euros|about|even|whole|full|entire|ins|into|auf|valid|run|runs|called|named"
    r"|number|day|last|first|back)(?=[ ,'\"(:-]|$|€)? ?){0,5}[$£€]?$"
)
_BEFORE = re.compile(rf"(?:(?<!\w){_NOT}|n't)(?!\w)(?: \w+)?(?: (?:out|in|up|off|been|back|[a-z]+ed))?{_FILLERS}")
_STILL_TOLD = re.compile(
    r"(?:\bnot|n't|\bnever|\bno) (?:\w+ ){0,3}(?:until|before|earlier|later|after|more than|less than|over"
    r"|above|only|just|past|beyond|longer than|bis|vor|spater|mehr als|avant|antes|only on|but|wait)\b"
    r"|\bno(?:t)? later\b|\bnot only\b|\bno problem\b|\bnot bad\b|^no,|\bno[,:] "
)
_AFTER = re.compile(
    r"^[\"')\]]*,?(?: \([^)]{0,40}\))? (?:(?:which|that|it|he|she|they)? ?(?:is|was|are|were|has been"
    r"|had been|would be|will be|being|ist|war|est|es)"
    r" (?:already |currently |still |now |both |all |also |unfortunately |fully |completely |out |sadly )*"
    r"(?:not (?:the|it|right|correct|possible|available|free|one|your|on|valid|what|cleaned|ready"
    r"|among|included|in|due)|n't|full\b|taken|occupied|fully booked|already booked|booked out"
    r"|unavailable|closed|gone|sold|wrong"
    r"|incorrect|cancelled|out of|lost|no longer|voll|belegt|nicht|complet\b|ocupad|history|void|expired"
    r"|replaced|other|in\b(?=[;.,]|$)|here|received|already there|in repair|under repair"
    r"|checked in already|someone else|another)"
    r"|isn't|wasn't|aren't|weren't|won't work|doesn't|does not (?:apply|fit|count|work)|had no\b|has no\b"
    r"|is for (?:another|someone|somebody)|belongs to|(?:can't|cannot) be (?:the|right|used)\b|\((?:full"
    r"|taken|not (?:free|available|possible|clean|ready)|occupied))"
)
DOUBT = re.compile(
    r"\b(?:maybe|perhaps|possibly|probably|presumably|likely|might"
    r"|i think|i believe|i guess|i suppose|i reckon|i assume|i'd guess|i'd say"
    r"|i would say|i (?:would|could|can|do)(?: not|n't) say|i cannot say"
    r"|not (?:entirely |quite |completely |fully |absolutely |100% |totally )?(?:sure"
    r"|certain)|unsure|not clear|unclear"
    r"|if i (?:remember|recall)|as far as i (?:remember|recall)|should be (?:around|about|roughly)"
    r"|seems to be|seem to be|it looks (?:like|as if)|something like"
    r"|somewhere (?:around|between|near)|don't quote me|or so|give or take"
    r"|guess|vielleicht"
    r"|wahrscheinlich|vermutlich|peut-etre|sans doute|probablement|quiza|quizas|tal vez|probablemente"
    r"|forse|(?<![\w-])one of (?:these|those|them|the following)|can't (?:say|tell) which"
    r"|cannot (?:say|tell) which|no idea|difficult to say|hard to say|tbc|to be confirmed|unless i'm"
    r"|double-check|check again|approximately|roughly|ungefahr|environ|aproximadamente"
    r"|or (?:a|an|one) \w+ or two|around that|apparently|supposedly|allegedly|or thereabouts|more or less"
    r"|if i(?:'m| am) not mistaken"
    r"|unless (?:it|the|i|they|he|she|that|this|there)|may or may not|might|depends on|depending on|it depends"
    r"|(?:can't|cannot|couldn't) (?:say|tell) (?:which|what|whether|if)"
    r"|don't know (?:which|what|whether|if)|(?:isn't|aren't|not) (?:sure|certain)|could be (?:a|an|one|some"
    r"|that)|there (?:may|might|could) be|(?:it|this) (?:may|might|could) (?:well |also )?be (?=the |a |an |on "
    r"|at |in |\d|one|either)"
    r"|circa)\b"
)
_ABOUT = re.compile(
    r"(?:\b(?:about|around|approximately|approx|roughly|some|nearly|almost|close to|ca|circa|etwa"
    r"|environ|ungefahr|unos|at about|just under|just over|in the region of|somewhere near)|~"
    r"|≈) ?\.? ?(?:the |a |at )?[€$£]?$"
)
UNDECIDED = re.compile(
    r"\b(?:it|this|that|she|he) (?:is|has) one of (?:the|these|those)\b|\bone or the other\b|\beither this\b"
)
_EITHER = re.compile(r"\b(?:either|entweder)\b")
_EITHER_ONE = re.compile(r"\beither\b(?! (?:\S+ ){1,8}or\b)")
_OR_IF = re.compile(
    rf"^[^.;:]{{0,60}}\bor (?:(?:just|only|even|rather|maybe) )?[€$£]?(?:\d[\d.,]*|{alternatives({*UNITS, *TENS})})"
    r"(?: [^\W\d_]+){0,2},? (?:if|when|unless|provided|should|in case|where)\b"
)
"""Another number in its place, on a condition."""
_COULD = re.compile(
    r"\b(?:may|might|could|can|should) (?:also |well |perhaps )?be(?: on| in| the| at| about| around)? ?[€$£]?$"
)
_NOT_SO = re.compile(
    r"^[\"')\]]*,? ?(?:\w+ )?(?:(?:is|was|are|were) ?(?:not|n't) (?:the|it|right|correct|possible|true"
    r"|valid|what|your|one|due)"
    r"|(?:is|was) (?:wrong|incorrect)|isn't|wasn't|aren't|weren't"
    r"|doesn't apply)"
)
_NOT_BEEN = re.compile(r"^[\"')\]]*,? ?(?:has|had|have|was|were)(?: not|n't) been\b")
_NOT_THAT = re.compile(
    r"\b(?:isn't|is not|wasn't|was not|not) (?:that|because|true that|the case that)\b(?:(?! but )[^.;:,])*$"
)
_SUBJECT = re.compile(
    r"^ ?(?:[^\W\d]+ )?(?:(?:is|was|are|were|would|will|does|do|did|can|could|has|have)(?: not|n't)\b"
    r"|cannot\b|were (?:turned|refused))"
)
_CLAUSE = re.compile(
    r": |[,:]? (?:but|however|yet|though|although|so|because|since|wegen|due to|owing to|on account of|as"
    r"|and (?:it|the|you|your|she|he|they"
    r"|we|i|there)|sondern|aber|mais|sino|pero|rather(?! than)|now|therefore)\b|[()]| - |,(?= \w+ (?:is|are|was"
    r"|has|have|you|it|costs?)\b)|\. |->"
)


def stance(
    text: Text, start: int, end: int, *, is_name: bool = True, is_rival: bool = False, is_reason: bool = False
) -> Stance:
    """How the text stands to what it mentions at a place.

    Of a name it can be said that it is taken, or full; of a reason that it is not done: "the 300 have not been paid".
    """
    first, last = text.sentence(start)
    sentence = text.text[first:last]
    if sentence.rstrip().endswith("?") and len(sentence.split()) > 1:
        return "asked"
    before, after = text.text[first:start], text.text[end:last]
    if _is_denied(before, after, is_name=is_name, is_rival=is_rival, is_reason=is_reason):
        return "denied"
    if _ABOUT.search(before) or _COULD.search(before) or DOUBT.search(sentence):
        return "doubted"
    if _EITHER.search(before) or _EITHER_ONE.search(after) or _OR_IF.match(after):
        return "doubted"
    return "told"


def _is_denied(before: str, after: str, *, is_name: bool, is_rival: bool, is_reason: bool) -> bool:
    """Whether the words of its sentence before or behind a value deny it."""
    clause = before[_clause_start(before) :]
    if _BEFORE.search(clause) and (is_rival or not _STILL_TOLD.search(clause)):
        return True
    if _NOT_THAT.search(before) or _NOT_SO.match(after):
        return True
    if is_reason:
        return False
    if _NOT_BEEN.match(after):
        return True
    if is_name:
        return _AFTER.match(after) is not None
    is_subject = not re.search(r"\w", re.sub(r"\b(?:the|your|her|his|a)\b", "", clause))
    return is_subject and _SUBJECT.match(after) is not None


def _clause_start(before: str) -> int:
    ends = [found.end() for found in _CLAUSE.finditer(before)]
    return ends[-1] if ends else 0


_THEN = r"(?:(?<=[.;!?,:\n-]) ?|(?<=[.;!?\n] )- |(?<=\()|(?<= - ))"
TAKEN_BACK = re.compile(
    _THEN + r"(?:(?:oh|ah|hm+|well|but|and|so|sorry|edit|uh|er|pardon|apologies),? ?)?"
    r"(?:no,? (?:wait|sorry|hold on|actually)\b|wait(?=[,.!:;]| -| no\b)|hold on\b|hang on\b|scratch that|strike that"
    r"|correction\b|update:|erratum\b|i mean\b|i meant\b|make that|my mistake|let me correct|oops"
    r"|on (?:a )?second (?:thoughts?|look|glance)"
    r"|on reflection|come to think|looking (?:again|closer)|(?:having )?check(?:ed|ing) again|double-checking"
    r"|re-check\w*"
    r"|looking at it again|i see now|now i see|i now see|hmm?\b|i(?:'ve| have)? (?:mixed|confused|misread"
    r"|misspoke|miscounted|(?:counted|read|looked|added)(?: \w+)? wrong(?:ly)?|was wrong|am mistaken"
    r"|was mistaken|added it)|i'm (?:mistaken|wrong)"
    r"|actually,? (?:no|it|the|that|she|he|they|you|i|make|its|\d)|korrektur|moment,|perdon,|pardon,"
    r"|sorry, (?:no|that was|it is|it's|i meant|i mean|make))"
    r"|" + _THEN + r"(?:oh|ah)(?:,|,? (?:no\b|i see|wait))(?! and)"
    r"|\b(?:that|this)(?: date| day| time| hour| number| figure| amount| count| value| price| one)?(?: was| is|'s)"
    r" (?:wrong|not (?:right|so|true|correct)|incorrect|untrue|a mistake|mistaken|another|the other)\b"
    r"(?! (?:matter|question))"
    r"|\bi misspoke|\bscratch that|\bhold on,|\bcorrection:|\bor rather\b|\bas i see now\b|\bi now see\b"
)
"""Words that take back what stands before them."""
_IT = (
    r"(?:that|this|it|the above|my answer|what i (?:just )?(?:said|wrote|told)"
    r"|the (?:date|day|time|amount|number|figure)s?)"
)
UNSURE = re.compile(
    r"\bi(?:'m| am) (?:not|n't) (?:\w+ )?(?:\d+ ?% )?(?:sure|certain)\b"
    r"|\bnot (?:100 ?%|entirely|quite|completely|fully) (?:sure|certain)\b"
    rf"|\b(?:i|{_IT}) (?:may|might|could) (?:well |also )?be (?:wrong|mistaken|off|different|out of date)\b"
    r"|\b(?:just|only|merely|but) an? (?:\w+ )?(?:guess|estimate|assumption)\b|\bmy (?:\w+ )?guess\b"
    r"|\bi(?:'m| am) guessing\b|\bfrom memory\b|\bunverified\b|\bgrain of salt\b"
    r"|\bat least i (?:think|believe)|\bi (?:think|believe|guess|suppose|assume|hope) so\b"
    r"|\bif i(?:'m| am) not mistaken|\bif i (?:remember|recall)\b"
    r"|\bi (?:think|believe|guess|suppose|assume)(?: the following)?:"
    rf"|\b(?:can't|cannot|could not|couldn't) (?:verify|check) (?:any of )?{_IT}\b"
    rf"|\b(?:i|i've|i have) (?:just )?made (?:all )?{_IT}(?: all)? up\b|\b(?:forget|disregard|ignore) (?:all )?{_IT}\b"
    rf"|\bdon't (?:take my word|quote me|rely on {_IT}|trust {_IT})"
)
"""Words of somebody who is not sure of the whole answer, wherever they stand in it."""
PLAIN_NO = re.compile(
    r"(?:(?<=[.;!?,\n-]) ?|(?<=[.;!?\n] )- |(?<=\()|(?<= - ))(?<!: )(?:sorry,? |nein, |but )?no(?=,| -|\.\.)"
)
"""A mere "no" after something told."""
NO_TO_A_QUESTION = re.compile(
    r"[ (-]*no, (?!(?:it|that|this|these|those|sorry|wait)\b)(?:[^\W\d_]+ ){1,4}?"
    r"(?:(?:can|could|may|will|would|is|are|was|were|do|does|did|has|have|had)(?: not|n't)|cannot)\b"
    r"|[ (-]*(?<=\? )no\b|[ (-]*no, (?:[^\W\d_]+ ){1,5}(?:not |\w+n't )(?:[^\W\d_]+ ){0,2}yet\b"
)
"""A "no" that answers a question: "no, you could not go back", "certain? No", "no, that is not decided yet"."""
UNKNOWN = re.compile(
    r"\b(?:i|we) (?:do not|don't) (?:know|see) (?:the|which|what|when|how|whether|if|where)\b|\b(?:can't|cannot"
    r"|couldn't) (?:say|tell) (?:when|which|how|what|whether)"
    r"|\bhave no (?:figure|date|number|amount)|\b(?:isn't|is not|aren't|are not) (?:stated|recorded"
    r"|noted)\b|\bnobody knows\b"
    r"|\bi (?:could not|couldn't) find$|\bno idea\b|\bi can't (?:say|tell) from here"
    r"|\b(?:what|which|when|whether|how (?:much|many|high|long))\b[^.;\n]{3,100}, (?:i|we)"
    r" (?:(?:do|did|could|can)(?: not|n't)|cannot|have not been able to)"
    r" (?:yet )?(?:find|see|know|say|tell|have|look)\b"
    r"|\b(?:i|we) (?:do not|don't) have (?:the|a|any) (?:whole |full |exact |total )?"
    r"(?:total|figure|number|amount|date|sum|price|cost)\b"
    r"|\b(?:i|we) (?:(?:did|could)(?: not|n't)|cannot|was not able to|were not able to)"
    r" (?:see|find|find out|tell|determine) (?:what|which|when|how (?:much|many|high|long)|until when|by when)\b"
)
"""Words of somebody who does not know what was asked."""
NO_OBSTACLE = re.compile(
    r"\b(?:that|this|which|it|they|these) (?:(?:did|does|do|was|is|were|are)(?: not|n't)|never|no longer)"
    r" (?:really |in fact )?(?:stands? in the way|stood in the way|matter(?:ed)?|prevent|stop|bar"
    r"|an? (?:obstacle|problem))"
    r"|\b(?:was|is) no (?:obstacle|hindrance|bar)\b"
)
"""Words that say that a reason stands in nobody's way."""
REFUSAL = re.compile(
    r"\b(?:(?:can't|cannot|can not|could not|couldn't|won't|not able to|unable to|not allowed to"
    r"|may not|not permitted to|not in a position to|am afraid i can't) (?:\w+ ){0,2}(?:tell|say|give"
    r"|share|disclose|answer|look|find out|help|provide|access|see|confirm|check|determine|reveal|name"
    r"|retrieve)"
    r"|(?:i|we) (?:don't|do not) (?:know|have (?:that|this|the) information|have access|see)"
    r"|no information|kann ich (?:ihnen )?(?:leider )?nicht sagen|ask (?:at|the|your)"
    r"|please (?:contact|ask|call|check)|would have to ask|i(?: would|'d|'ll)? (?:have|need) to check"
    r"|will let you know|get back to you)\b"
)
