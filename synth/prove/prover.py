"""The prover: makes the proof of an environment by running it, without a model."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.authoring.check import environment_findings
from servers.authoring.proof import digests
from servers.bundle.environment import Environment
from servers.bundle.examples import load_examples
from servers.bundle.rules import BundleRule, load_rules
from servers.errors import BundleError, GuestError, QueryError
from servers.guest.branch_coverage import branches
from servers.sandbox.guest_pool import Guests
from servers.state.readonly_query import Reader
from synth.play.pinned_bundle import PinnedBundle
from synth.play.playground import Playground
from synth.prove.call_sequence import Found
from synth.prove.explorer import Explorer
from synth.prove.proof import Coverage, Proof, RuleShown, ToolShown, score_of
from synth.prove.refusal_places import Places, places_of, refusing
from synth.prove.repetition import interleave, repeat

CALLS = 1200
TIMES_MADE = 3
"""Each call is made three times: when drawn, interleaved, and with coverage."""
NO_COVERAGE = Coverage(branches=0, taken=0, missed=())


@dataclass(frozen=True)
class Exploration:
    """The result of an exploration."""

    tools: dict[str, ToolShown]
    rules: dict[str, RuleShown]
    coverage: Coverage


def no_progress(_calls: int) -> None:
    """The callback of a silent run."""


async def prove(
    folder: Path, *, calls: int = CALLS, seed: int = 0, on_call: Callable[[int], None] = no_progress
) -> Proof:
    """Prove the environment of a bundle. `on_call` gets the number of calls since its last call.

    If a tool has not succeeded, half as many calls again are made.

    Raises:
        BundleError: a file cannot be read, or changed meanwhile.
        GuestError: the farm failed.
    """
    bundle = PinnedBundle.of(folder)
    files = digests(folder)
    found = Found()
    async with Guests() as guests:
        environment, wrong = await environment_findings(folder, guests)
    found.checked("loads")
    for text in wrong:
        found.add("loads", folder.name, text.removeprefix(f"{folder}/"))
    seen = Exploration({}, {}, NO_COVERAGE)
    if environment is not None:
        try:
            seen = await _seen(environment, calls, seed, found, on_call)
        except BundleError as error:
            if not wrong:  # else it has been said why
                found.add("loads", folder.name, str(error))
        except GuestError:
            if not wrong:
                raise
    bundle.require_unchanged()
    findings = found.all()
    return Proof(
        environment=folder.name,
        version="" if environment is None else environment.description.version,
        files=files,
        seed=seed,
        calls=found.checks.get("answers", 0),
        sound=not findings,
        score=score_of(findings, seen.coverage, seen.rules),
        checks=dict(sorted(found.checks.items())),
        findings=findings,
        tools=seen.tools,
        rules=seen.rules,
        coverage=seen.coverage,
    )


async def _seen(
    environment: Environment, calls: int, seed: int, found: Found, on_call: Callable[[int], None]
) -> Exploration:
    rules = load_rules(environment.folder)
    async with Playground(environment.folder) as stage:
        scene = await stage.launch()
        async with scene.reading() as reader:
            places = places_of(environment.source, environment.schema, rules, reader)
            _check_first_rows(reader, rules, found)
        explorer = Explorer(stage, await scene.shape(), places, rules, seed=seed, found=found)
        walks = await explorer.show(load_examples(environment.folder))
        walks += await explorer.explore(calls, on_call)
        if not all(explorer.ok.values()):
            walks += await explorer.explore(calls // 2, on_call)
        await interleave(stage, walks, found, on_call)
    async with Playground(environment.folder, covering=True) as stage:
        await repeat(stage, walks, found, on_call)
        taken = await stage.taken()
    return Exploration(
        _tools(environment, explorer, found), _rules(rules, places, explorer, found), _coverage(environment, taken)
    )


def _check_first_rows(reader: Reader, rules: tuple[BundleRule, ...], found: Found) -> None:
    for rule in rules:
        try:
            if rule.never and reader.select(rule.never, rows=1).rows:
                found.add("rules", rule.id, "is broken by the first rows")
        except QueryError as error:
            found.add("rules", rule.id, f"its `never` does not run: {error}")


def _tools(environment: Environment, explorer: Explorer, found: Found) -> dict[str, ToolShown]:
    """Every tool must succeed, and refuse if its code has a refusal."""
    refuse = refusing(environment.source)
    shown: dict[str, ToolShown] = {}
    for name in environment.tools:
        found.checked("succeeds")
        ok, refused = explorer.ok[name], explorer.refused[name]
        if not ok:
            said = explorer.refusals[name].as_text()
            found.add("succeeds", name, f"never succeeded; it was refused {refused} times{said and f': {said}'}")
        if name in refuse:
            found.checked("refuses")
            if not refused:
                found.add("refuses", name, f"never refused, though it can; it succeeded {ok} times")
        shown[name] = ToolShown(ok=ok, refused=refused, can_refuse=name in refuse)
    return shown


def _rules(rules: tuple[BundleRule, ...], places: Places, explorer: Explorer, found: Found) -> dict[str, RuleShown]:
    """A rule with a holder must have a place with its name, or a query that would show a breach.

    It is shown by a call that was refused at such a place, or without a place by states in which it was not broken.
    """
    shown: dict[str, RuleShown] = {}
    for rule in rules:
        refused, states = explorer.rule_refused[rule.id], explorer.rule_states.get(rule.id, 0)
        bearing = places.bearing(rule.id)
        is_shown = rule.holder != "agent" and bool(refused if bearing else states)
        shown[rule.id] = RuleShown(holder=rule.holder, refused=refused, states=states, shown=is_shown)
        if rule.holder == "agent":
            continue
        found.checked("rules")
        if not bearing and not rule.never:
            what = f"is claimed by {rule.holder}, and no refusal in tools.py or schema.sql bears its name"
            found.add(
                "rules",
                rule.id,
                f"{what}; mark one with `rule: {rule.id}`, give it a `never`, or leave it to the agent",
            )
    return shown


def _coverage(environment: Environment, taken: set[int]) -> Coverage:
    every = branches(environment.source)
    missed = tuple(f"tools.py, line {one.line}: {one.way}" for number, one in enumerate(every) if number not in taken)
    return Coverage(branches=len(every), taken=len(taken), missed=missed)


@dataclass(frozen=True)
class ProofJob:
    """A job that proves bundles with a number of calls."""

    calls: int
    seed: int

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Callable[[PinnedBundle], Awaitable[Proof]]]:
        """Opens nothing: each proof has playgrounds of its own."""

        async def proved(bundle: PinnedBundle) -> Proof:
            with bundle.on_worker():
                return await prove(bundle.folder, calls=self.calls, seed=self.seed)

        yield proved
