"""Renews a certificate of which only the judge of answers is another one: what hangs on the answer is tried again.

What was shown about commands and rows stays true. They are held by the same checkpoints, and the same answer passes.
"""

import time

from servers.answer import JUDGE_VERSION
from servers.bundle.environment import Environment
from servers.errors import BundleError, CheckpointError, NotFound
from servers.scenario.checkpoints.answer import AnswerCheckpoint
from servers.scenario.scenario import Certificate, Scenario
from servers.scenario.scenario_file import digest_of
from synth.certify import leaks
from synth.certify.agents.company import COMPANY, SPEAKERS, earned_by
from synth.certify.agents.weak_agents import LADDER, ladder, never_tells, unmet
from synth.certify.agents.wrong_agents import name_of
from synth.certify.certifier import (
    LOWEST_KILL_SCORE,
    WRONG_LAST_WORDS,
    Examined,
    examine,
    other_forms,
    paraphrased,
    reference_findings,
    start_findings,
    survivors_of,
    too_strict,
    wrong_last_words,
)
from synth.play.playground import Playground
from synth.solutions.reference_run import ReferenceRun, played


async def renew(stage: Playground, scenario: Scenario) -> Examined:
    """Renew the certificate of a scenario, or examine it as a whole if that is not enough, or shows a fault."""
    begin = time.perf_counter()
    kept = renewable(stage.environment, scenario)
    if kept is None:
        return await examine(stage, scenario)
    seen = Examined(scenario)
    try:
        reference = await played(stage, scenario)
    except (BundleError, NotFound):
        return await examine(stage, scenario)
    try:
        await _renew(reference, kept, seen)
    except (BundleError, CheckpointError) as error:
        seen.findings.append(str(error))
    finally:
        await reference.close()
    seen.seconds = time.perf_counter() - begin
    return seen if seen.certificate else await examine(stage, scenario)


def renewable(environment: Environment, scenario: Scenario) -> Certificate | None:
    """The certificate of a scenario, if only the judge has another version.

    Where a SELECT says what is to be told, that hangs on the rows of each run, and no part of a certificate stays.
    Whether there is anything to tell (`only_if`) hangs on the rows alone.
    """
    kept = scenario.certificate
    asked = [one for one in scenario.checkpoints if isinstance(one, AnswerCheckpoint)]
    if kept is None or kept.judge == JUDGE_VERSION or kept.digest != digest_of(environment, scenario):
        return None
    if any(one.silent_sql or any(fact.sql or fact.confusable_sql for fact in one.facts) for one in asked):
        return None
    doers = {name_of(agent) for agent in COMPANY if agent not in SPEAKERS}
    return kept if doers & kept.company.keys() and kept.difficulty.ladder else None


async def _renew(reference: ReferenceRun, kept: Certificate, seen: Examined) -> None:
    seen.findings += await start_findings(reference)
    seen.findings += await reference_findings(reference)
    seen.findings += await leaks.of_answers(reference)
    if seen.findings:
        return
    seen.tried += await wrong_last_words(reference)
    seen.tried += await other_forms(reference)
    seen.company = await earned_by(reference, SPEAKERS)
    if reference.scenario.weak:
        seen.ladder = await ladder(reference)
        seen.findings += unmet(reference, seen.ladder)
    else:
        seen.ladder = [one for one in await earned_by(reference, (never_tells,)) if one.counts]
    seen.paraphrases = await paraphrased(reference)
    seen.findings += too_strict(seen)
    seen.findings += [one.finding() for one in seen.company if one.reward >= 1]
    _weigh(kept, seen)


def _weigh(kept: Certificate, seen: Examined) -> None:
    """Put what was tried in the place of what the certificate had of it."""
    others = [one for one in kept.survivors if one.mutant not in WRONG_LAST_WORDS]
    survivors = (*others, *survivors_of(seen))
    score = 1 - len(survivors) / kept.mutants if kept.mutants else 0.0
    if seen.findings or score < LOWEST_KILL_SCORE:
        return
    company = {**kept.company, **{one.agent: one.reward for one in seen.company if one.counts}}
    agents = [name_of(agent) for agent in COMPANY]
    names = [name_of(agent) for agent in LADDER]
    tried = {**kept.difficulty.ladder, **{one.agent: one.reward for one in seen.ladder}}
    in_order = dict.fromkeys((*(name for name in names if name in tried), *tried))
    seen.certificate = kept.model_copy(
        update={
            "killed": kept.mutants - len(survivors),
            "survivors": survivors,
            "company": {name: company[name] for name in agents if name in company},
            "paraphrases": seen.paraphrases,
            "judge": JUDGE_VERSION,
            "difficulty": kept.difficulty.model_copy(update={"ladder": {name: tried[name] for name in in_order}}),
        }
    )
