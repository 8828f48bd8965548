"""The company: the fixed set of wrong agents that play every scenario."""

from collections.abc import Sequence

from synth.certify.agents.line_agents import line_echo, line_hedger, line_lister, line_near_miss, line_paster
from synth.certify.agents.wrong_agents import (
    Earned,
    WrongAgent,
    WrongAgentPlayer,
    claimer,
    echo,
    first_match,
    half,
    hedger,
    lister,
    near_miss,
    over_doer,
    paster,
    reader,
    refuser,
    script_of,
    twice,
    undoer,
)
from synth.solutions.reference_run import ReferenceRun

COMPANY: tuple[WrongAgent, ...] = (
    near_miss,
    paster,
    lister,
    hedger,
    echo,
    claimer,
    refuser,
    first_match,
    half,
    over_doer,
    undoer,
    reader,
    twice,
    line_near_miss,
    line_paster,
    line_lister,
    line_hedger,
    line_echo,
)

SPEAKERS: tuple[WrongAgent, ...] = (
    paster,
    lister,
    hedger,
    echo,
    claimer,
    refuser,
    line_near_miss,
    line_paster,
    line_lister,
    line_hedger,
    line_echo,
)
"""Those that say something else than the reference. The others do something else, and say the same."""


async def company(reference: ReferenceRun, others: Sequence[WrongAgent] = ()) -> list[Earned]:
    """Let all wrong agents, and `others`, play a scenario."""
    return await earned_by(reference, (*COMPANY, *others))


async def earned_by(reference: ReferenceRun, agents: Sequence[WrongAgent]) -> list[Earned]:
    """Let some wrong agents play a scenario."""
    script = script_of(reference)
    player = WrongAgentPlayer(reference)
    return [await player.play(agent, script) for agent in agents]
