"""What the evaluation of a round says: success rates with bounds, and the same in words."""

from collections.abc import Mapping, Sequence

from evals.runs.records import Subject
from evals.runs.summary import RolloutSummary
from rl_training.evolve.records import RoundFigure, RoundRecord
from rl_training.evolve.scenario_parts import drawn
from rl_training.evolve.weak_spots import AgentResult, success_of
from servers.text.wording import counted


def told(one: RoundRecord) -> str:
    """A round's evaluation in words."""
    parts = [f"round {one.number}: {_rate(one.figure())} succeed on {_count(one.figure())}"]
    parts += [f"{_rate(each)} under {each.perturb}" for each in one.figures if each.perturb and not each.environment]
    weak = [f"{spot.label} ({spot.success:.0%} against {spot.others:.0%})" for spot in one.weak]
    parts.append(f"weak: {', '.join(weak)}" if weak else "no spot is weak beyond chance")
    if one.broken:
        parts.append(f"{counted(one.broken, 'episode')} broke and counted nowhere")
    return "; ".join(parts)


def _rate(one: RoundFigure | None) -> str:
    if one is None:
        return "nothing is known: none"
    bounds = "" if one.low is None or one.high is None else f" ({one.low:.0%} to {one.high:.0%})"
    return f"{one.success:.0%}{bounds}"


def _count(one: RoundFigure | None) -> str:
    return counted(0 if one is None else one.scenarios, "held-out scenario")


def for_the_curve(names: set[str], seed: int) -> set[str]:
    """Half of the scenarios of each environment, which the curve shows. On the others weakness is looked for."""
    shown: set[str] = set()
    for environment in {name.partition("/")[0] for name in names}:
        own = [name for name in names if name.partition("/")[0] == environment]
        shown |= set(sorted(own, key=lambda name: drawn(seed, f"half {name}"))[::2])
    return shown


def played_scenario(subject: Subject, ones: Sequence[RolloutSummary], perturb: str) -> AgentResult:
    scenario = subject.detail.scenario
    calls = scenario.solution.calls if scenario.solution is not None else ()
    ladder = scenario.certificate.difficulty.ladder if scenario.certificate is not None else {}
    return AgentResult(
        environment=subject.detail.environment,
        scenario=scenario.id,
        tools=frozenset(call.tool for call in calls) & frozenset(subject.writers),
        level=scenario.level,
        demands=frozenset(name for name, reward in ladder.items() if reward < 1),
        perturb=perturb,
        successes=sum(one.success is True for one in ones),
        attempts=len(ones),
    )


def round_figures(played: Sequence[AgentResult], rewards: Mapping[tuple[str, str], float]) -> list[RoundFigure]:
    found: list[RoundFigure] = []
    for perturb in dict.fromkeys(one.perturb for one in played):
        for environment in ("", *sorted({one.environment for one in played})):
            some = [one for one in played if one.perturb == perturb and environment in ("", one.environment)]
            if not some:
                continue
            rate, attempts = success_of(some), sum(one.attempts for one in some)
            found.append(
                RoundFigure(
                    environment=environment,
                    perturb=perturb,
                    scenarios=len(some),
                    attempts=attempts,
                    success=rate.value,
                    low=rate.low,
                    high=rate.high,
                    reward=sum(rewards[one.name, perturb] for one in some) / attempts,
                )
            )
    return found
