"""What the pages tell about a bundle beside the API: its proof, its rules, how hard its scenarios are, who made it.

Files are read again when they have changed. A bundle's files are a stranger's, so every value is checked or shown as
text.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from servers.authoring.proof import PROOF_FILE, PROVED_FILES, digests
from servers.bundle.description import BenchmarkOrigin
from servers.bundle.environment import Environment
from servers.bundle.examples import load_examples
from servers.bundle.files import Stamp, opened
from servers.bundle.rules import BundleRule, load_rules
from servers.bundle_library import Library
from servers.errors import BundleError
from servers.limits.recent_values import RecentValues
from servers.scenario.difficulty import RATINGS
from servers.scenario.scenario import Scenario, rating_of
from servers.text.json_values import is_list, is_object

EXCHANGES_FILE = "exchanges.json"
MOST_EXCHANGES = 500
FILES = (*PROVED_FILES, PROOF_FILE, EXCHANGES_FILE, "scenarios.jsonl")
T = TypeVar("T")


class _Lenient(BaseModel):
    """A part of a file that others write. Unknown keys are left out."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class RuleFacts(_Lenient):
    """What a proof says of one rule."""

    holder: str = ""
    refused: int = 0
    states: int = 0
    shown: bool = False


class ToolFacts(_Lenient):
    """What a proof says of one tool."""

    ok: int = 0
    refused: int = 0


class CoverageFacts(_Lenient):
    """The branches of the tools' code that a proof reached."""

    branches: int = 0
    taken: int = 0


class ProofFacts(_Lenient):
    """The proof of an environment. `current` is false if a file has changed since."""

    files: dict[str, str] = {}
    calls: int = 0
    sound: bool = False
    score: float | None = None
    rules: dict[str, RuleFacts] = {}
    tools: dict[str, ToolFacts] = {}
    coverage: CoverageFacts | None = None
    findings: tuple[Any, ...] = ()
    current: bool = True


class SynthesisExchange(_Lenient):
    """One question to a model that made a part of the bundle, and why its answer was refused, if it was."""

    stage: str = ""
    prompt: str = ""
    """The digest of what was asked."""
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class BundleFacts:
    """All of it, for one state of the files."""

    proof: ProofFacts | None
    rules: tuple[BundleRule, ...]
    exchanges: tuple[SynthesisExchange, ...]
    ratings: Mapping[str, int]
    tags: tuple[tuple[str, int], ...]
    examples: Mapping[str, str]
    made: str
    """One of: hand-written, synthesised, imported, benchmark."""
    benchmark: BenchmarkOrigin | None
    reading: tuple[Stamp | None, ...]


MOST_KNOWN = 1_000
"""Bundles whose facts are kept."""
MOST_KNOWN_BYTES = 3 * 1024 * 1024
"""Characters of these facts."""


class FactsCache:
    """The facts of the bundles of a library that were read last. Thread-safe."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._known = RecentValues[str, BundleFacts](MOST_KNOWN, MOST_KNOWN_BYTES, lambda facts: len(repr(facts)))
        self._reading = Lock()  # one thread reads: bundles are large

    def of(self, environment_id: str) -> BundleFacts:
        """The facts of a bundle. Raises NotFound or BundleError as the library does."""
        environment = self._library.environment(environment_id)
        with opened(environment.folder) as files:
            stamps = files.stamps((*FILES, *files.row_files()))
        kept = self._known.find(environment_id)
        if kept is not None and kept.reading == stamps:
            return kept
        with self._reading:
            found = _read(environment, self._library.scenarios(environment_id), stamps)
            self._known.keep(environment_id, found)
        return found


def _read(environment: Environment, scenarios: Mapping[str, Scenario], stamps: tuple[Stamp | None, ...]) -> BundleFacts:
    folder = environment.folder
    ratings, tags = Counter[str](), Counter[str]()
    examples = _examples(folder)
    for scenario in scenarios.values():  # one is in memory at a time
        ratings[rating_of(scenario) or "unrated"] += 1
        tags.update(scenario.tags)
        for call in scenario.solution.calls if scenario.solution else ():
            if call.tool not in examples and "${" not in (text := _as_json(call.arguments)):
                examples[call.tool] = text
    return BundleFacts(
        proof=_proof(folder),
        rules=_or(lambda: load_rules(folder), ()),
        exchanges=_exchanges(folder),
        ratings={name: ratings[name] for name in (*RATINGS, "unrated") if ratings[name]},
        tags=tuple(tags.most_common(40)),
        examples=examples,
        made=_made(environment),
        benchmark=environment.description.benchmark,
        reading=stamps,
    )


def _made(environment: Environment) -> str:
    description = environment.description
    if description.benchmark is not None:
        return "benchmark"
    if description.imported is not None:
        return "imported"
    return "synthesised" if description.provenance.model else "hand-written"


def _proof(folder: Path) -> ProofFacts | None:
    text = _text(folder, PROOF_FILE)
    try:
        proof = None if text is None else ProofFacts.model_validate_json(text)
    except ValidationError:
        return None
    if proof is None:
        return None
    now = _or(lambda: digests(folder), dict[str, str]())
    return proof.model_copy(update={"current": proof.files == now})


def _exchanges(folder: Path) -> tuple[SynthesisExchange, ...]:
    try:
        told: Any = json.loads(_text(folder, EXCHANGES_FILE) or "[]")
        listed = told[:MOST_EXCHANGES] if is_list(told) else []
        return tuple(SynthesisExchange.model_validate(one) for one in listed if is_object(one))
    except (ValueError, RecursionError):
        return ()


def _examples(folder: Path) -> dict[str, str]:
    """The arguments of a call of each tool in the examples, as JSON."""
    found: dict[str, str] = {}
    for example in _or(lambda: load_examples(folder), ()):
        if example.outcome == "ok":
            found.setdefault(example.tool, _as_json(example.arguments))
    return found


def _as_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, ensure_ascii=False)


def _text(folder: Path, name: str) -> str | None:
    def read() -> str | None:
        with opened(folder) as files:
            return files.text_if_there(name)

    return _or(read, None)


def _or(read: Callable[[], T], otherwise: T) -> T:
    """What a reader of a bundle's file finds. A faulty file is as none; `farm check` finds the fault."""
    try:
        return read()
    except BundleError:
        return otherwise
