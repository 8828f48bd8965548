"""What an answer says of one fact: told, or the first reason why not."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from servers.answer.checks.labels import AskedFact, TextSpan, is_of_another
from servers.answer.checks.reply import FoldedReply
from servers.answer.expected_fact import ExpectedFact
from servers.answer.question import AnswerQuestion, FactVerdict
from servers.answer.stance import UNDECIDED, UNSURE


@dataclass(frozen=True)
class FactTold(ABC):
    """What an answer says of one fact."""

    reply: FoldedReply
    one: ExpectedFact
    question: AnswerQuestion
    asked: Sequence[AskedFact]

    def verdict(self) -> FactVerdict:
        """Whether the answer tells the fact."""
        fault = next(self.faults(), "")
        return FactVerdict(not fault, fault and f"{self.one.fact.name}: {fault}")

    def doubts(self, told: Sequence[TextSpan]) -> Iterator[str]:
        """How an answer takes away from what it tells at some places."""
        if UNSURE.search(self.reply.folded):
            yield "it is not sure"
        if UNDECIDED.search(self.reply.folded):
            yield "it leaves open which it is"
        if any(at >= min(told)[1] for at in self.reply.corrections):
            yield "it takes back what it tells"
        if any(self.reply.is_unknown(start) for start, _ in told):
            yield "it says that it does not know"

    @cached_property
    def others_asked(self) -> list[ExpectedFact]:
        """The other facts that are asked for."""
        return [other for _, other in self.asked if other is not self.one]

    def is_of_another(self, place: TextSpan) -> bool:
        """Whether a value is told of what another fact is about."""
        return is_of_another(self.reply, self.one, self.question, place, self.asked)

    def between(self, one: TextSpan, other: TextSpan) -> str:
        """The text between two places."""
        (_, first), (last, _) = sorted((one, other))
        return self.reply.folded[first:last]

    @abstractmethod
    def faults(self) -> Iterator[str]:
        """Why the answer does not tell the fact, if it does not."""
