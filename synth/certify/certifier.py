"""Certifies a scenario: runs it, its mutants and the wrong agents, and checks that its checkpoints tell them apart."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from servers.answer import JUDGE_VERSION
from servers.authoring.checkpoint_findings import question_findings, text_findings
from servers.bundle.paraphrases import ENOUGH
from servers.errors import BundleError, CheckpointError, NotFound
from servers.messages import Verdict
from servers.scenario.difficulty import Difficulty
from servers.scenario.scenario import Certificate, Paraphrased, Scenario, Survivor
from servers.scenario.scenario_file import digest_of, reference_problems
from synth.certify import leaks
from synth.certify.agents.company import company
from synth.certify.agents.run_mutants import LEFT_OUT, Tried, harmless, mistaken
from synth.certify.agents.state_mutants import damaged
from synth.certify.agents.weak_agents import ladder, unmet
from synth.certify.agents.wrong_agents import Earned, WrongAgent
from synth.certify.agents.wrong_answers import CLAIM, IDLE, REFUSAL, altered, asks, reworded
from synth.certify.paraphrases import judged_answers, paraphrases_of
from synth.certify.value_guards import Held, free_though_told, held
from synth.play.playground import Playground
from synth.solutions.call_run import PlayedCall
from synth.solutions.reference_run import ReferenceRun, played

LOWEST_KILL_SCORE = 0.9
WRONG_LAST_WORDS = (
    "saying nothing",
    "only claiming to be done",
    "refusing in words",
    "with other numbers and names",
)
FEW = f"only {{}} right and {{}} wrong answers in other words; {ENOUGH} of each are wanted (paraphrases.json)"


@dataclass
class Examined:
    """The results about a scenario. Without a finding, it has a certificate."""

    scenario: Scenario
    findings: list[str] = field(default_factory=list[str])
    tried: list[Tried] = field(default_factory=list[Tried])
    told: list[Held] = field(default_factory=list[Held])
    company: list[Earned] = field(default_factory=list[Earned])
    ladder: list[Earned] = field(default_factory=list[Earned])
    paraphrases: Paraphrased | None = None
    difficulty: Difficulty | None = None
    certificate: Certificate | None = None
    seconds: float = 0.0

    @property
    def mutants(self) -> list[Tried]:
        """The wrong runs, states and answers."""
        return [tried for tried in self.tried if tried.must_fail]

    @property
    def misjudged(self) -> list[str]:
        """Advice about its answer: misjudged texts, or too few texts."""
        tried = self.paraphrases
        if tried is None:
            return []
        return [
            *(f"a right answer in other words is refused: {text}" for text in tried.refused),
            *(f"a wrong answer in other words passes: {text}" for text in tried.passed),
            *([FEW.format(tried.right, tried.wrong)] if min(tried.right, tried.wrong) < ENOUGH else []),
        ]


async def examine(
    stage: Playground, scenario: Scenario, others: Sequence[WrongAgent] = (), *, alone: bool = True
) -> Examined:
    """Play a scenario in all ways that test its checkpoints. `others` join the wrong agents.

    If it does not stand alone, but is a part of a larger one, nothing is concluded from what was tried.
    """
    begin = time.perf_counter()
    seen = Examined(scenario)
    try:
        reference = await played(stage, scenario)
    except (BundleError, NotFound) as error:
        seen.findings.append(str(error))
        seen.seconds = time.perf_counter() - begin
        return seen
    try:
        await _examine(stage, reference, seen, others)
        if alone and seen.difficulty is not None:
            _weigh(reference, seen, seen.difficulty)
    except (BundleError, CheckpointError) as error:
        seen.findings.append(str(error))
    finally:
        await reference.close()
    seen.seconds = time.perf_counter() - begin
    return seen


async def _examine(stage: Playground, reference: ReferenceRun, seen: Examined, others: Sequence[WrongAgent]) -> None:
    seen.findings += reference_problems(seen.scenario, reference.environment)
    seen.findings += await _checkpoint_findings(reference)
    if seen.findings:
        return  # whoever is judged by such a checkpoint is judged by nothing
    seen.findings += await start_findings(reference)
    seen.findings += await reference_findings(reference)
    seen.findings += leaks.of_text(reference)
    seen.findings += free_though_told(reference)
    seen.findings += await leaks.of_answers(reference)
    if seen.findings:
        return
    seen.findings += await _repeated(stage, reference)
    seen.tried += [tried async for tried in mistaken(reference)]
    seen.tried += await damaged(reference)
    seen.tried += await wrong_last_words(reference)
    seen.tried += [tried async for tried in harmless(reference)]
    seen.tried += await _another_seed(stage, reference)
    seen.tried += await other_forms(reference)
    seen.told = held(reference, seen.mutants)
    seen.company = await company(reference, others)
    seen.ladder = await ladder(reference)
    seen.findings += unmet(reference, seen.ladder)
    seen.paraphrases = await paraphrased(reference)
    seen.difficulty = _difficulty(reference, seen)


def _difficulty(reference: ReferenceRun, seen: Examined) -> Difficulty:
    return Difficulty(
        calls=len(reference.made),
        tools=tuple(sorted({one.step.tool for one in reference.made})),
        tables=tuple(sorted({change.table for change in reference.changes})),
        pass_rate=seen.scenario.played.pass_rate if seen.scenario.played else None,
        ladder={one.agent: one.reward for one in seen.ladder},
    )


def _weigh(reference: ReferenceRun, seen: Examined, difficulty: Difficulty) -> None:
    """Turn the results into findings, or into a certificate."""
    seen.findings += too_strict(seen)
    alive = alive_of(seen)
    seen.findings += [f"it is enough without all of it: {one.what}" for one in alive if one.what.startswith(LEFT_OUT)]
    seen.findings += [one.finding() for one in seen.told if one.alive]
    seen.findings += [one.finding() for one in seen.company if one.reward >= 1]
    told = {str(one.told.place): one.by for one in seen.told}
    conclude(seen, digest_of(reference.environment, seen.scenario), told, difficulty)


def conclude(seen: Examined, digest: str, told: Mapping[str, str], difficulty: Difficulty, *, second: str = "") -> None:
    """Find whether too many wrong runs pass. Give a certificate if nothing was found."""
    alive = alive_of(seen)
    score = 1 - len(alive) / len(seen.mutants) if seen.mutants else 0.0
    if score < LOWEST_KILL_SCORE:
        named = "; ".join(tried.what for tried in alive[:5]) or "there is nothing that could be done wrong"
        seen.findings.append(
            f"kill score {score:.2f}: of {len(seen.mutants)} wrong runs and states {len(alive)} pass: {named}"
        )
    if seen.findings:
        return
    seen.certificate = Certificate(
        digest=digest,
        second=second,
        mutants=len(seen.mutants),
        killed=len(seen.mutants) - len(alive),
        survivors=survivors_of(seen),
        variants=len(seen.tried) - len(seen.mutants),
        told=dict(told),
        company={one.agent: one.reward for one in seen.company if one.counts},
        paraphrases=seen.paraphrases,
        judge=JUDGE_VERSION,
        difficulty=difficulty,
    )


def too_strict(seen: Examined) -> list[str]:
    """The right runs that fail."""
    strict = [tried.what for tried in seen.tried if not tried.must_fail and tried.fails]
    return [f"too strict: a right run fails: {what}" for what in strict]


def alive_of(seen: Examined) -> list[Tried]:
    """The mutants that pass."""
    return [tried for tried in seen.mutants if not tried.fails]


def survivors_of(seen: Examined) -> tuple[Survivor, ...]:
    """The mutants that pass, as a certificate lists them."""
    return tuple(Survivor(mutant=tried.what, why=_why(tried)) for tried in alive_of(seen))


def _why(tried: Tried) -> str:
    return f"no checkpoint tells it from the reference; it differs in {tried.differs}"


async def _checkpoint_findings(reference: ReferenceRun) -> list[str]:
    """Checkpoints that cannot be answered, as `farm check` finds them."""
    scenario, guests = reference.scenario, reference.guests
    is_imported = reference.environment.description.imported is not None
    found = [(one, why) for _, one, why in await text_findings([scenario], guests, is_imported=is_imported)]
    found += await question_findings(reference.states.start, scenario, reference.window.first, guests)
    return [f"checkpoints.{one.id}: {why}" for one, why in found]


async def start_findings(reference: ReferenceRun) -> list[str]:
    """Goals must be false at the start and guards true. Doing nothing, or refusing everything, must earn 0."""
    found: list[str] = []
    with reference.states.at_start() as reader:
        for name, answer in (("does nothing", IDLE), ("refuses everything", REFUSAL)):
            said = await reference.judged(reader, answer, (), now=reference.window.first)
            if answer == IDLE:
                found += [
                    f"checkpoint {verdict.checkpoint}: a goal that holds at the start"
                    for verdict in said.verdicts
                    if verdict.role == "goal" and verdict.holds
                ]
                found += [
                    f"checkpoint {verdict.checkpoint}: a guard that does not hold at the start"
                    + (f": {verdict.error}" if verdict.error else "")
                    for verdict in said.verdicts
                    if verdict.role == "guard" and not verdict.holds
                ]
            if said.reward > 0:
                found.append(f"an agent that {name} earns {said.reward:g}")
    return found


async def reference_findings(reference: ReferenceRun) -> list[str]:
    """The reference must pass everything."""
    with reference.states.at_end() as reader:
        said = await reference.judged(reader)
    return [*broken_calls(reference.made), *not_holding(said.verdicts)]


def broken_calls(made: Sequence[PlayedCall]) -> list[str]:
    """The calls of a reference that do not work."""
    return [
        f"solution.calls.{one.step.number}: {one.outcome.kind}: {one.outcome.detail or one.outcome.text}"
        for one in made
        if one.outcome.kind in ("failed", "timeout", "died", "invalid")
    ]


def not_holding(verdicts: Sequence[Verdict]) -> list[str]:
    """The checkpoints that do not hold after the reference."""
    return [
        f"checkpoint {verdict.checkpoint}: does not hold after the reference"
        + (f": {verdict.error}" if verdict.error else f"; seen {verdict.seen}" if verdict.seen else "")
        for verdict in verdicts
        if not verdict.holds
    ]


async def _repeated(stage: Playground, reference: ReferenceRun) -> list[str]:
    """Played twice, the reference must leave the same state and read the same texts."""
    again = await played(stage, reference.scenario)
    await again.close()
    found = [
        f"solution.calls.{one.step.number}: {one.step.tool} answers differently when it is played again"
        for one, other in zip(reference.made, again.made, strict=True)
        if one.outcome.text != other.outcome.text or one.outcome.kind != other.outcome.kind
    ]
    if reference.exact != again.exact:
        found.append("the reference leaves another state when it is played again")
    return found


async def _another_seed(stage: Playground, reference: ReferenceRun) -> list[Tried]:
    """The same calls with other generated ids: nothing may depend on them."""
    other = await played(stage, reference.scenario, seed=1)
    tried = Tried("with other made-up ids", False, await _fails(other, other.answer))
    await other.close()
    return [tried]


async def wrong_last_words(reference: ReferenceRun) -> list[Tried]:
    """The right state with wrong last words, if the task asks to be told something."""
    deaf = not await _fails(reference, IDLE)
    if deaf and not asks(reference.scenario.task):
        return []
    words = (IDLE, CLAIM, REFUSAL, altered(reference.answer, reference.scenario.task, reference.rows))
    return [
        Tried(what, True, not deaf and await _fails(reference, answer), "the answer")
        for what, answer in zip(WRONG_LAST_WORDS, words, strict=True)
        if answer != reference.answer
    ]


async def other_forms(reference: ReferenceRun) -> list[Tried]:
    """The right state and the reference's answer, with its dates and amounts in other forms."""
    return [
        Tried(f"saying {answer!r}", False, await _fails(reference, answer)) for answer in reworded(reference.answer)
    ]


async def paraphrased(reference: ReferenceRun) -> Paraphrased | None:
    """The right state with other people's right and wrong last words."""
    if not judged_answers(reference):
        return None
    tried = [(one, await _fails(reference, one.text)) for one in paraphrases_of(reference)]
    return Paraphrased(
        right=sum(one.is_right for one, _ in tried),
        wrong=sum(not one.is_right for one, _ in tried),
        refused=tuple(one.text for one, fails_ in tried if one.is_right and fails_),
        passed=tuple(one.text for one, fails_ in tried if not one.is_right and not fails_),
    )


async def _fails(reference: ReferenceRun, answer: str) -> bool:
    return await reference.refuses(answer, now=reference.window.last)
