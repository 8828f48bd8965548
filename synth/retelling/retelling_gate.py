"""The gate of retellings: each value, condition and reference of a task stands in the part where it belongs, no other.

A retelling marks each part where it begins: `[2] and lend her Dune`. The gate reads the words between two marks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from servers.bundle.environment import Environment
from servers.bundle.phrases import HOLE, Phrases
from synth.certify.agents.wrong_answers import asks
from synth.environments.mining.tasks import in_english
from synth.forward.proposal import keys_in
from synth.phrasing.task_text import OPTIONAL
from synth.retelling.spoken_values import QUOTED, RowNames, are_same, as_written, capitals, quotes, values
from synth.retelling.task_parts import TaskPart, TaskParts
from synth.solutions.plausible_values import RowSample
from synth.solutions.told_values import TaskWords, ToldValue, plain
from synth.solutions.value_texts import SIGNED

MARK = re.compile(r"\s*\[(\d{1,2})\]\s*")
LIST_MARK = re.compile(r"\n\s*(?:[-*•]|\d{1,2}[.)])\s*$")
"""What stands before the mark of the next part in a list."""
SHORTEST, LONGEST = 40, 1_500
CONDITIONS = {
    "a condition": r"if|unless|in case|provided|providing|as long as|otherwise|else|depending|whether|when(?:ever)?",
    "an exception": r"only|except|excluding|other than|apart from|but not|nothing but",
    "a lower bound": r"at least|no (?:less|fewer|earlier) than|minimum|or more|or later|and up",
    "an upper bound": r"at most|no (?:more|later) than|maximum|up to|or (?:less|fewer|earlier)|not more than|tops",
    "an alternative": r"or|either|alternatively",
}
FREELY = ("a condition",)
"""What a motive may say: `when you get a minute`. It may not be added to a value, and may not be dropped."""
ADDED = re.compile(
    r"\b(?:if|unless|in case|provided|as long as|otherwise|depending on|only if|if possible|if you can|try to|ideally"
    r"|preferably|maybe|perhaps|possibly|optional(?:ly)?)\b",
    re.IGNORECASE,
)
HEDGED = re.compile(
    r"\b(?:about|around|roughly|approximately|approx\.?|some|nearly|almost|over|under|more than|less than"
    r"|a couple(?: of)?|a few)\s+(?=\d|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)",
    re.IGNORECASE,
)
NOT = re.compile(
    r"(?<!\bi )(?<!\bwe )(?<!\bthey )(?<!\byou )\b(?:don['’]?t|do not)\b"
    r"|\b(?:must not|mustn['’]?t|shouldn['’]?t|should not|instead of)\b",
    re.IGNORECASE,
)
"""What forbids. “I don't like the look of it” does not."""
DENIED = re.compile(r"\b(?:not|no|never|without|n['’]t|none)\b|n['’]t\b", re.IGNORECASE)
TELLTALE = re.compile(
    r"\b(?:not possible|(?:can(?:not|['’]t| not)|won['’]?t|doesn['’]?t) (?:be done|go through|work|go|happen)"
    r"|skip (?:it|that|this)|leave (?:that|it|them|this) (?:part )?(?:out|as it is|alone|be)|allowed|permitted"
    r"|refuse[ds]? (?:it|to|this|that)|something(?:['’]s| is) in the way|should (?:one|any|something|anything)\b"
    r"|doesn['’]?t go)",
    re.IGNORECASE,
)
SLIP = re.compile(r"\b(?!that )(\w+) \1\b|_{2,}|[{}]")
"""What nobody means to write: a word twice, a blank to be filled in."""
REASON = re.compile(
    r"\b(?:why|reasons?|what (?:stood|stands|got|was) in the way|what stopped|because of what)\b", re.IGNORECASE
)
FIGURES = re.compile(r"\b(?:dates?|times?|hours?|amounts?|figures?|sums?|numbers?)\b", re.IGNORECASE)
"""The formula that nobody speaks: every agent reads anyway what belongs to a reason."""
LISTED = re.compile(r"^\s*(?:[-*•◦]|\[.?\]|\d{1,2}[.)])\s", re.MULTILINE)
LABEL = re.compile(r":\s")
MOST_LABELS = 1
MOST_TIMES = 2
"""How often a text may have a whole name."""
WRITES = r"\b{0} (?:here|speaking|writing)\b|\b(?:this is|i m|my name is) {0}\b"
DECIDER = re.compile(r"_by$|^(?:handler|manager|staff)_id$")
"""Arguments that name who decides, who may then be the one who writes."""
UP = re.compile(r"\b(?:more|up|add(?:ed|itional)?|extra|plus|higher|over|increase|found|raise)\b|\+", re.IGNORECASE)
DOWN = re.compile(
    r"\b(?:fewer|less|down|minus|lower|short|missing|take off|off|decrease|reduce|lost|gone|out)\b|[-−]\d",
    re.IGNORECASE,
)
SMALL = frozenset(
    plain(
        "a an and are as at be but by for from has have her his in into is it its my of on or our out please she that"
        " the their them then there they this to was we were will with you your i me he him us also now put set"
    ).split()
)
STEM = 5
MOST_FINDINGS = 12


@dataclass(frozen=True)
class Original:
    """A task that is to be retold, with what its gate must know."""

    task: str
    parts: TaskParts
    values: tuple[ToldValue, ...]
    clock: str
    arguments: dict[int, dict[str, object]] = field(default_factory=dict[int, dict[str, object]])
    after: dict[int, frozenset[int]] = field(default_factory=dict[int, frozenset[int]])
    """For each part the earlier parts whose results it needs, both counted from 1."""
    is_judged: bool = True
    """True if a checkpoint judges the answer."""


@dataclass(frozen=True)
class Gate:
    """Finds the faults of retellings of one environment."""

    environment: Environment
    phrases: Phrases
    rows: RowSample
    names: RowNames

    def findings(self, told: Original, text: str) -> list[str]:
        """What is wrong with a retelling, a sentence each. Empty if nothing is."""
        segments, faults = marked(text, len(told.parts.parts))
        if faults:
            return faults
        order = sorted(segments, key=lambda number: segments[number][0])
        begin = text[: segments[order[0]][0]] if order else text
        reports = [segments[number][1] for number in order if told.parts.parts[number - 1].kind == "report"]
        found = [
            *self._of_form(told, text),
            *self._of_style(unmarked(text)),
            *self._of_whole(told, unmarked(text), begin, reports),
        ]
        found += _of_begin(told, begin)
        for at, number in enumerate(order):
            part = told.parts.parts[number - 1]
            before = told.parts.parts[order[at - 1] - 1] if at else None
            words = segments[number][1]
            if part.kind == "report":
                found += _of_report(number, words)
                continue
            earlier = [told.parts.parts[other - 1] for other in order[:at]]
            found += [f"part {number}: {why}" for why in self._of_values(told, part, earlier, words, begin)]
            found += [f"part {number}: {why}" for why in _of_conditions(part, words)]
            if part.kind == "order":
                found += [f"part {number}: {why}" for why in self._of_order(told, part, before, words, begin)]
            late = [other for other in told.after.get(number, ()) if order.index(other) > at]
            found += [f"part {number} follows from part {other}: tell it after that" for other in late]
        return list(dict.fromkeys(found))[:MOST_FINDINGS]

    def _of_form(self, told: Original, text: str) -> Iterator[str]:
        bare = unmarked(text)
        if not SHORTEST <= len(bare) <= max(LONGEST, 2 * len(told.task)):
            yield f"it has {len(bare)} characters; {SHORTEST} to {LONGEST} are wanted"
        if not in_english(bare):
            yield "it is not English"
        if plain(bare) == plain(told.task):
            yield "it is the first wording again"
        slip = SLIP.search(bare)
        if slip and slip[0] not in told.task:
            yield f"“{slip[0]}” is a slip of the pen"
        names = [*self.environment.tools, *(name for one in self.rows.columns.values() for name in one if "_" in name)]
        for name in names:
            if re.search(rf"\b{name}\b", bare) and "_" in name and name not in told.task:
                yield f"names {name}, which is a name of the system"
        for key in keys_in(bare, self.rows):
            if key not in told.task:
                yield f"gives the key {key}, which no person knows"

    def _of_style(self, text: str) -> Iterator[str]:
        """What no person writes: lists, labels, the same whole name over and over."""
        if LISTED.search(text):
            yield "it is a list; write sentences"
        if len(LABEL.findall(QUOTED.sub(" ", text))) > MOST_LABELS:
            yield "“label: order” is how forms are filled in; write sentences"
        whole = f" {plain(text)} "
        for name in sorted(self.names.within(text)):
            count = whole.count(f" {name} ")
            if " " in name and count > max(MOST_TIMES, len(self._alike(name, text))):
                yield f"“{name}” stands {count} times; name it once and say he, she or it then"

    def _alike(self, name: str, text: str) -> set[str]:
        """The names of a text that stand in the same tables as one."""
        return {other for other in self.names.within(text) if self.names.tables[other] & self.names.tables[name]}

    def _of_whole(self, told: Original, text: str, begin: str, reports: list[str]) -> Iterator[str]:
        without = text
        for words in reports:
            without = without.replace(unmarked(words), "")
        for found in TELLTALE.finditer(without):
            if found[0].lower() not in " ".join(part.words for part in told.parts.parts).lower():
                yield f"“{found[0]}” speaks of what may not be possible; leave that out"
        deciders = {name for part in told.parts.parts for name in self._deciders(told, part)}
        if not deciders & self.names.within(begin):
            yield from self._of_opening(told, text)
        there = f" {plain(told.task)} "
        for word in dict.fromkeys(capitals(text)):
            if f" {plain(word)} " not in there and f" {plain(word).removesuffix('s')} " not in there:
                yield f"“{word}” is a name that the task does not have"
        for name in sorted(self.names.within(text) - self.names.within(told.task)):
            if any(sign.isdigit() for sign in name) or (" " in name and name in plain(" ".join(capitals(text)))):
                yield f"“{name}” is not in the task"
        yield from self._of_told(told, text)

    def _of_opening(self, told: Original, text: str) -> Iterator[str]:
        for name in self.names.within(told.parts.opening):
            if f" {name} " not in f" {plain(text)} ":
                yield f"nobody is called “{name}” any more, as the task begins"
        described = self.environment.description
        own = f" {plain(f'{described.title} {described.description}')} "
        for word in capitals(told.parts.opening):
            if f" {plain(word)} " not in f" {plain(text)} " and f" {plain(word)} " not in own:
                yield f"“{word}”, with whom the task begins, is left out"

    def _of_told(self, told: Original, text: str) -> Iterator[str]:
        words = TaskWords(text, clock=told.clock, choices=self.phrases.words)
        for value in told.values:
            if not value.is_row and not words.tell(value.place.argument, value.value):
                yield f"the value {value.value!r} of “{value.place.argument}” can no longer be read"
        if not told.is_judged and asks(text) and not asks(told.task):
            yield "it asks to be told something (“tell”, “let me know”, a question), and the task does not"

    def _deciders(self, told: Original, part: TaskPart) -> set[str]:
        """The names of those who decide a part. One of them may be the person who writes."""
        found: set[str] = set()
        for argument, value in told.arguments.get(part.call, {}).items():
            if DECIDER.search(argument) and isinstance(value, str):
                rows = [self.rows.row(table, value) or {} for table in self.rows.tables_of.get(value, ())]
                texts = {plain(text) for row in rows for text in row.values() if isinstance(text, str)}
                found |= texts & self.names.tables.keys()
        return found

    def _writers(self, begin: str) -> set[str]:
        """The names by which a text's writer introduces herself."""
        text = plain(begin)
        return {name for name in self.names.within(begin) if re.search(WRITES.format(re.escape(name)), text)}

    def _of_values(
        self, told: Original, part: TaskPart, parts: list[TaskPart], words: str, begin: str
    ) -> Iterator[str]:
        """The values of a part are told in it. One of the part before may be left out if it is told there."""
        before = parts[-1] if parts else None
        earlier = before.words if before else told.parts.opening
        yield from _of_quotes(part, earlier, words)
        wanted, there = values(part.words, told.clock), values(words, told.clock)
        shared = values(earlier, told.clock)
        for one in wanted:
            if not any(are_same(one, other) for other in (*there, *shared)):
                yield f"“{as_written(one, part.words)}” is missing"
        for one in there:
            if not any(are_same(one, other) for other in wanted) and not _is_one(one.values):
                yield f"“{as_written(one, words)}” is not in this part; add no value, date or number"
        for kind in ("date", "time", "amount", "number"):
            mine = [one for one in wanted if one.type == kind]
            theirs = [one for one in there if one.type == kind]
            if len(mine) == len(theirs) > 1 and not all(map(are_same, mine, theirs)):
                yield "tell its values in this order: " + ", ".join(as_written(one, part.words) for one in mine)
        spoken = self._deciders(told, part) & self.names.within(begin)
        is_hers = self._writers(begin) <= spoken | self.names.within(told.parts.opening)
        heard = f"{told.parts.opening} {begin if is_hers else ''}"
        nearest, *others = (*(one.words for one in reversed(parts)), heard)
        yield from self._of_names(part, nearest, words, spoken, others)

    def _of_names(
        self, part: TaskPart, earlier: str, words: str, spoken_before: set[str], long_before: list[str]
    ) -> Iterator[str]:
        """Each name of a part stands in it, or in what was said just before where no other could be meant.

        A name that was told once may come again as its last word. Who decides may have begun the text.
        """
        mine, known = self.names.within(part.words), self.names.within(earlier)
        there = f" {plain(words)} "
        told_before = {name for text in (earlier, *long_before) for name in self.names.within(text)} | spoken_before
        for name in sorted(mine):
            last = name.split(" ")[-1]
            alike = {other for other in told_before | mine if last in other.split(" ")}
            is_known = name in told_before and alike == {name} and f" {last} " in there
            if f" {name} " in there or name in spoken_before or is_known:
                continue
            others = (told_before if part.kind == "question" else known) - mine - spoken_before
            rivals = {other for other in others if self.names.tables[other] & self.names.tables[name]}
            if name not in (told_before if part.kind == "question" else known):
                yield f"“{name}” is missing"
            elif rivals:
                yield f"“{name}” is missing, and “{min(rivals)}” could be meant"
        heard = (earlier, *spoken_before, *(long_before if part.kind == "question" else ()))
        spoken = {plain(word) for text in heard for word in capitals(f"x {text}")}
        again = [f" {name} " for name in mine & told_before]
        for word in capitals(f"x {part.words}" if part.words[:1].islower() else part.words):
            is_spoken = plain(word) in spoken or any(f" {plain(word)} " in name for name in again)
            if f" {plain(word)} " not in there and not is_spoken:
                yield f"“{word}” is missing"

    def _of_order(
        self, told: Original, part: TaskPart, before: TaskPart | None, words: str, begin: str
    ) -> Iterator[str]:
        there = _stems(words)
        writers = self._deciders(told, part) & self.names.within(begin)
        for clause in re.split(r"[,;:(]|\band\b", re.sub(r"[“\"][^”\"]*[”\"]", " ", part.words)):
            stems = _stems(clause)
            if writers & self.names.within(clause):
                continue
            if len(stems) > 1 and not stems & there and not (before and stems <= _stems(before.words)):
                yield f"nothing is left of “{clause.strip()}”"
        own = self._words_of(part)
        if part.tool and own & _stems(part.words) and not any(_is_form(one, other) for one in own for other in there):
            yield f"it is not clear what is to be done (“{part.words[:60]}”)"
        for _, value in signed(told, part):
            if value > 0 and not UP.search(words):
                yield f"say that {value} is more, not less"
            if value < 0 and not DOWN.search(words):
                yield f"say that {-value} is less, not more"

    def _words_of(self, part: TaskPart) -> set[str]:
        """The stems that tell a command from the others: those of its name, its description and its phrases."""
        named = {plain(name) for name in self.names.within(part.words)}
        own = self._vocabulary(part.tool)
        others: list[set[str]] = [
            self._vocabulary(name) for name, tool in self.environment.tools.items() if tool.writes
        ]
        common = {stem for stem in own if sum(stem in other for other in others) > len(others) / 3}
        return {stem for stem in own if stem not in common and not any(stem in name for name in named)}

    def _vocabulary(self, tool: str) -> set[str]:
        described = self.environment.tools.get(tool)
        forms = [form for by_voice in self.phrases.asks.get(tool, {}).values() for form in by_voice]
        plain_forms = " ".join(HOLE.sub(" ", OPTIONAL.sub(lambda one: one[3], form)) for form in forms)
        first = re.split(r"[.;\n]", described.description)[0] if described else ""
        return _stems(f"{tool.replace('_', ' ')} {first} {plain_forms}")


def signed(told: Original, part: TaskPart) -> list[tuple[str, int]]:
    """The numbers of an order that may be more or fewer, by argument."""
    return [
        (name, value)
        for name, value in told.arguments.get(part.call, {}).items()
        if name.endswith(SIGNED) and isinstance(value, int) and not isinstance(value, bool)
    ]


def marked(text: str, count: int) -> tuple[dict[int, tuple[int, str]], list[str]]:
    """The words of each part of a marked text, with their places; and what is wrong with the marks."""
    found = list(MARK.finditer(text))
    numbers = [int(one[1]) for one in found]
    if sorted(numbers) != list(range(1, count + 1)):
        wanted = " ".join(f"[{number}]" for number in range(1, count + 1))
        return {}, [f"mark each part once, where its words begin: {wanted}"]
    ends = [*(one.start() for one in found[1:]), len(text)]
    return {
        number: (one.start(), LIST_MARK.sub("", text[one.end() : end]))
        for number, one, end in zip(numbers, found, ends, strict=True)
    }, []


def unmarked(text: str) -> str:
    """A text without its marks."""
    bare = MARK.sub(lambda one: "\n" if "\n" in one[0] else " ", text)
    lines = (re.sub(r" ([,.;:!?])", r"\1", re.sub(r" {2,}", " ", line)).strip() for line in bare.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _of_quotes(part: TaskPart, earlier: str, words: str) -> Iterator[str]:
    for quote in quotes(part.words):
        if f" {quote} " not in f" {plain(words)} " and quote not in quotes(earlier):
            yield f"“{quote}” is not there word for word"
    for quote in quotes(words):
        if f" {quote} " not in f" {plain(part.words)} ":
            yield f"“{quote}” is quoted, and the part does not say it"


def _of_begin(told: Original, words: str) -> Iterator[str]:
    """What stands before the first part may count things (“two from the gate”). It has no date, time or amount."""
    known = values(told.parts.opening, told.clock)
    for one in values(words, told.clock):
        if one.type in ("date", "time", "amount") and not any(are_same(one, other) for other in known):
            yield f"“{as_written(one, words)}” stands before the first part; the task does not have it"


def _of_report(number: int, words: str) -> Iterator[str]:
    if not REASON.search(words):
        yield f"part {number}: ask why something was not done"
    elif found := FIGURES.search(words):
        yield f"part {number}: leave out “{found[0]}”: ask for the reason as people do (“and why”)"


def _of_conditions(part: TaskPart, words: str) -> Iterator[str]:
    part, words = part._replace(words=QUOTED.sub(" ", part.words)), QUOTED.sub(" ", words)
    for name, form in CONDITIONS.items():
        pattern = re.compile(rf"\b(?:{form})\b", re.IGNORECASE)
        was, became = pattern.search(part.words), pattern.search(words)
        if was and not became:
            yield f"{name} is lost: “{was[0]}”"
        elif became and not was and name not in FREELY:
            yield f"{name} is added: “{became[0]}”"
    added, hedged = ADDED.search(words), HEDGED.search(words)
    if added and not ADDED.search(part.words):
        yield f"“{added[0]}” weakens it or adds a condition"
    if hedged and not HEDGED.search(part.words):
        yield f"“{hedged[0].strip()}” makes a value inexact"
    negated = NOT.search(words)
    if negated and not DENIED.search(part.words):
        yield f"“{negated[0]}” turns it round"
    if DENIED.search(part.words) and not DENIED.search(words):
        yield f"“{DENIED.search(part.words)[0]}” is lost"  # pyright: ignore[reportOptionalSubscript]


def _is_one(found: frozenset[object]) -> bool:
    return found == frozenset({1})


def _is_form(stem: str, word: str) -> bool:
    """True if a word is a form of another: `moved` of `move`."""
    return stem == word or (len(stem) < STEM and word.startswith(stem))


def _stems(text: str) -> set[str]:
    """The beginnings of the words of a text that mean something."""
    return {word[:STEM] for word in plain(text).split() if word not in SMALL and len(word) > 2}
