"""What a tool said when it refused, and how often: each kind of refusal once, with a call that met it."""

from collections import Counter

from synth.play.experience import PARTICULAR
from synth.prove.call_sequence import RecordedCall, shortened

MOST_TOLD = 6


class Refusals:
    """The refusals of one tool. Those that differ in names, numbers and ids alone are of one kind."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._first: dict[str, RecordedCall] = {}

    def note(self, made: RecordedCall) -> None:
        """Count one."""
        kind = PARTICULAR.sub("", made.text)
        self._counts[kind] += 1
        self._first.setdefault(kind, made)

    def as_text(self) -> str:
        """The commonest of them, for who shall find out why nothing succeeded."""
        common = self._counts.most_common(MOST_TOLD)
        told = [
            f"{times} times as in {self._first[kind]}: {shortened(self._first[kind].text)}" for kind, times in common
        ]
        more = len(self._counts) - len(common)
        return "; ".join([*told, *([f"and {more} other kinds of refusal"] if more else [])])
