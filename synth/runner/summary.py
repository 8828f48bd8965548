"""The summary and the HTML report of a run, read from its folder: yield per stage, rejections, cost."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from servers.errors import NotFound
from servers.files.atomic_write import write_whole
from synth.page import histogram, page
from synth.pipeline.artefact import Artefact
from synth.pipeline.artefact_chain import ArtefactChain
from synth.pipeline.asker import WriterExchange
from synth.pipeline.environment_run import TOPIC, Rejection, rejection_of
from synth.pipeline.folder import SynthesisFolder
from synth.pipeline.progress import Prices
from synth.pipeline.stage import Stage
from synth.runner.exchange_texts import ExchangeTexts


@dataclass
class StageTally:
    """One stage over all environments."""

    name: str
    passed: int = 0
    at_first: int = 0
    asked: int = 0
    first_asked: int = 0
    first_accepted: int = 0
    refused: int = 0
    rejected: int = 0
    sent_back: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, exchanges: Sequence[WriterExchange]) -> None:
        """Count some exchanges."""
        self.asked += len(exchanges)
        first = [exchange for exchange in exchanges if exchange.attempt == 1]
        self.first_asked += len(first)
        self.first_accepted += sum(not exchange.reasons for exchange in first)
        self.refused += sum(bool(exchange.reasons) for exchange in exchanges)
        self.prompt_tokens += sum(exchange.prompt_tokens for exchange in exchanges)
        self.completion_tokens += sum(exchange.completion_tokens for exchange in exchanges)


class MadeEnvironment(NamedTuple):
    """One environment."""

    id: str
    title: str
    state: str
    stage: str
    why: tuple[str, ...]
    asked: int
    tokens: int
    money: float
    counts: dict[str, int]


@dataclass
class RunSummary:
    """All of it. Tokens count when first spent, even if the last run had them from the cache."""

    stages: list[StageTally]
    cards: list[MadeEnvironment] = field(default_factory=list[MadeEnvironment])
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    models: Counter[str] = field(default_factory=Counter[str])

    @property
    def accepted(self) -> list[MadeEnvironment]:
        """The environments that passed everything."""
        return [card for card in self.cards if card.state == "accepted"]

    @property
    def tokens(self) -> int:
        return sum(card.tokens for card in self.cards)

    @property
    def money(self) -> float:
        return sum(card.money for card in self.cards)

    @property
    def distributions(self) -> dict[str, list[int]]:
        """The figures of stages, such as tables and tools, over the accepted environments."""
        names = sorted({name for card in self.accepted for name in card.counts})
        return {name: [card.counts[name] for card in self.accepted if name in card.counts] for name in names}


def summed_up(folder: SynthesisFolder, stages: Sequence[Stage], prices: Prices) -> RunSummary:
    """Read a run."""
    summary = RunSummary([StageTally(stage.name) for stage in stages])
    for path in sorted(folder.environments.glob("*/")):
        line = ArtefactChain(path, (TOPIC, *stages))
        standing = line.standing()
        if standing:
            _count(summary, line, standing, prices)
    return summary


def _count(summary: RunSummary, line: ArtefactChain, standing: list[Artefact], prices: Prices) -> None:
    tallies = {tally.name: tally for tally in summary.stages}
    said: list[WriterExchange] = []
    for artefact in standing[1:]:
        tally = tallies[artefact.stage]
        tally.passed += 1
        tally.at_first += artefact.turn == 0 and not any(exchange.reasons for exchange in artefact.exchanges)
        _note(summary, tally, artefact.exchanges, said)
    for name, exchanges in line.given_up(standing):
        _note(summary, tallies[name], exchanges, said)
    for back in line.backs():
        tallies[back.by].sent_back += 1
    rejection = rejection_of(line.folder)
    if rejection is not None:
        tallies[rejection.stage].rejected += 1
        _note(summary, tallies[rejection.stage], rejection.exchanges, said)
    summary.models.update(exchange.model for exchange in said if exchange.model)
    done = len(standing) == len(line.stages)
    counts: dict[str, int] = {}
    for stage, artefact in zip(line.stages, standing, strict=False):
        if stage.counts is not None:
            counts |= stage.counts(stage.kind.model_validate(artefact.value))
    summary.cards.append(
        MadeEnvironment(
            id=line.folder.name,
            title=str(standing[0].value.get("title", "")),
            state="rejected" if rejection else "accepted" if done else "unfinished",
            stage="" if done else line.stages[len(standing)].name,
            why=rejection.reasons if rejection else (),
            asked=len(said),
            tokens=sum(exchange.prompt_tokens + exchange.completion_tokens for exchange in said),
            money=sum(map(prices.of, said)),
            counts=counts,
        )
    )


def _note(
    summary: RunSummary, tally: StageTally, exchanges: Sequence[WriterExchange], said: list[WriterExchange]
) -> None:
    tally.add(exchanges)
    said += exchanges
    summary.reasons.update((tally.name, reason) for exchange in exchanges for reason in exchange.reasons)


def summed_up_data(summary: RunSummary) -> dict[str, Any]:
    """A run as plain values, for a page of a farm."""
    return {
        "stages": [asdict(stage) for stage in summary.stages],
        "cards": [card._asdict() for card in summary.cards],
        "accepted": len(summary.accepted),
        "tokens": summary.tokens,
        "money": summary.money,
        "models": list(summary.models),
        "reasons": [(*key, times) for key, times in summary.reasons.most_common(MOST_REASONS)],
        "more_reasons": max(0, len(summary.reasons) - MOST_REASONS),
    }


def environment_exchanges(folder: SynthesisFolder, name: str, stages: Sequence[Stage]) -> dict[str, Any]:
    """One environment of a run: its stages and their exchanges, those of given up artefacts among them.

    Raises:
        NotFound: the run has none of this name.
    """
    if name not in folder.begun():
        raise NotFound(f"{folder.path.name} has no environment {name[:200]!r}")
    line = ArtefactChain(folder.environments / name, (TOPIC, *stages))
    standing = line.standing()
    rejection = rejection_of(line.folder)
    order = [stage.name for stage in line.stages]
    return {
        "id": name,
        "title": str(standing[0].value.get("title", "")) if standing else name,
        "next": "" if rejection or len(standing) == len(order) else order[len(standing)],
        "passed": len(standing) - 1,
        "stages": len(order) - 1,
        "rejected": rejection.reasons if rejection else (),
        "backs": [{"by": back.by, "to": back.to, "evidence": back.evidence} for back in line.backs()],
        "exchanges": [
            {"stage": one.stage, "state": one.state, **one.exchange.model_dump(mode="json", exclude={"prompt"})}
            for one in _exchanges(line, standing, rejection)
        ],
    }


class PlacedExchange(NamedTuple):
    """An exchange, the stage that asked, and whether what came of it stands, was made anew, or was given up."""

    stage: str
    state: str
    exchange: WriterExchange


def _exchanges(line: ArtefactChain, standing: list[Artefact], rejection: Rejection | None) -> list[PlacedExchange]:
    told = [(artefact.stage, "stands", artefact.exchanges) for artefact in standing[1:]]
    told += [(stage, "made anew", exchanges) for stage, exchanges in line.given_up(standing)]
    if rejection is not None:
        told.append((rejection.stage, "given up", rejection.exchanges))
    return [
        PlacedExchange(stage, state, exchange)
        for stage, state, exchanges in sorted(told, key=lambda one: line.position(one[0]))
        for exchange in exchanges
    ]


def one_exchange(
    folder: SynthesisFolder, name: str, number: int, stages: Sequence[Stage], texts: ExchangeTexts
) -> dict[str, Any]:
    """One exchange of an environment, the first is number 1, with its texts where the run's cache holds them.

    Raises:
        NotFound: the run has no such environment or exchange.
    """
    if name not in folder.begun():
        raise NotFound(f"{folder.path.name} has no environment {name[:200]!r}")
    line = ArtefactChain(folder.environments / name, (TOPIC, *stages))
    standing = line.standing()
    told = _exchanges(line, standing, rejection_of(line.folder))
    if not 1 <= number <= len(told):
        raise NotFound(f"{name} has no exchange {number}; there are {len(told)}")
    one = told[number - 1]
    found = texts.find(folder.path, one.exchange.prompt, one.exchange.model)
    return {
        "id": name,
        "title": str(standing[0].value.get("title", "")) if standing else name,
        "number": number,
        "total": len(told),
        "stage": one.stage,
        "state": one.state,
        **one.exchange.model_dump(mode="json"),
        "texts": None if found is None else found.as_data(),
    }


MOST_REASONS = 40
TEMPLATE = Path(__file__).with_name("report.html")


def write_report(folder: SynthesisFolder, summary: RunSummary) -> Path:
    """Write the report. Returns its path."""
    path = folder.path / "report.html"
    write_whole(path, report(summary, folder.path.resolve().name))
    return path


def report(summary: RunSummary, name: str) -> str:
    """The page."""
    return page(
        TEMPLATE,
        name=name,
        summary=summary,
        begun=len(summary.cards),
        reasons=summary.reasons.most_common(MOST_REASONS),
        more_reasons=max(0, len(summary.reasons) - MOST_REASONS),
        histograms=[histogram(*item) for item in summary.distributions.items()],
    )
