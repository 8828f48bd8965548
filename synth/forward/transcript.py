"""A solver's attempts in words, to find out why none passed."""

from collections.abc import Sequence

from agent_client.trace import Turn
from evals.rollout import Rollout

LONGEST = 700


def evidence(rollouts: Sequence[Rollout]) -> tuple[str, ...]:
    """One text for each attempt: the best in full, of the others their failed checkpoints."""
    best = max(range(len(rollouts)), key=lambda at: (rollouts[at].reward or 0.0, -at))
    return tuple(
        "\n".join([f"Attempt {at + 1}:", *(_calls(one) if at == best else ()), *_end(one)])
        for at, one in enumerate(rollouts)
    )


def missed(rollout: Rollout) -> tuple[str, ...]:
    """The checkpoints that did not hold."""
    return tuple(said.checkpoint for said in rollout.score.verdicts if not said.holds) if rollout.score else ()


def _calls(rollout: Rollout) -> list[str]:
    trace = rollout.trace
    if trace is None:
        return []
    heard = [f"- the user: {_short(trace.task)}"] if trace.user else []
    return heard + [line for turn in trace.turns for line in [*_turn(turn), *(_said(turn) if trace.user else ())]]


def _turn(turn: Turn) -> list[str]:
    return [
        f"- {call.tool}({_short(str(call.arguments))}) -> {'refused: ' if result.is_error else ''}{_short(result.text)}"
        for call, result in zip(turn.calls, turn.results, strict=False)
    ]


def _said(turn: Turn) -> list[str]:
    """The words of a conversation."""
    agent = [f"- the agent: {_short(turn.text)}"] if turn.text and not turn.calls else []
    return agent + ([f"- the user: {_short(turn.user)}"] if turn.user else [])


def _end(rollout: Rollout) -> list[str]:
    said = [f"  {rollout.outcome}: {rollout.error}"] if rollout.error else []
    answer = rollout.trace.answer if rollout.trace else ""
    verdicts = rollout.score.verdicts if rollout.score else ()
    return [
        *said,
        f"  answer: {_short(answer) or '(none)'}",
        *(
            f"  does not hold: {one.checkpoint} ({one.question})" + (f"; seen {_short(one.seen)}" if one.seen else "")
            for one in verdicts
            if not one.holds
        ),
    ]


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else text[:LONGEST] + "…"
