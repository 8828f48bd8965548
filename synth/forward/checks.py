"""Checklist and checkpoints of a proposed scenario: each item is one question about the final state."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from servers.errors import CheckpointError
from servers.gate.static_gate import checkpoint_problems
from servers.records import Name, Record
from servers.scenario.checkpoints.kinds import Checkpoint
from synth.certify.agents.wrong_answers import REFUSAL, asks
from synth.forward.proposal import Proposal
from synth.play.playground import Playground
from synth.solutions.normalized_diff import MADE_ID

MOST = 14


class Item(Record):
    """What must have become true (`goal`), or must have stayed true (`guard`)."""

    id: Name
    role: Literal["goal", "guard"]
    what: str = Field(min_length=8)


class Free(Record):
    """An argument whose value the task leaves to whoever does it."""

    tool: str
    argument: str


class Checks(Record):
    """One checkpoint for each item of the checklist, under its id."""

    checklist: tuple[Item, ...] = Field(min_length=2, max_length=MOST)
    checkpoints: tuple[Checkpoint, ...] = Field(min_length=2, max_length=MOST)
    free: tuple[Free, ...]


async def check_findings(checks: Checks, proposal: Proposal, stage: Playground) -> list[str]:
    """The faults of checkpoints that the start state shows. The certificate finds the others."""
    found = [*_list_findings(checks), *_text_findings(checks, proposal, stage)]
    return found or await _start_findings(checks, proposal, stage)


def _list_findings(checks: Checks) -> Iterator[str]:
    items = {item.id: item.role for item in checks.checklist}
    asked = {one.id: one.role for one in checks.checkpoints}
    if len(asked) < len(checks.checkpoints):
        yield "checkpoints: two with one id"
    for name in sorted(items.keys() ^ asked.keys()):
        where = "checkpoints: none asks" if name in items else "checklist: no item for the checkpoint"
        yield f"{where} {name!r}"
    for name in items.keys() & asked.keys():
        if items[name] != asked[name]:
            yield f"{name}: a {items[name]} in the checklist, and a {asked[name]} among the checkpoints"
    if not any(one.kind == "footprint" for one in checks.checkpoints):
        yield "checkpoints: none is a footprint; one has to hold everything else as it was"
    if "goal" not in asked.values():
        yield "checkpoints: no goal"


def _text_findings(checks: Checks, proposal: Proposal, stage: Playground) -> Iterator[str]:
    known = (proposal.setup, *stage.environment.first_rows)
    for one in checks.checkpoints:
        text = one.model_dump_json(exclude={"question"})
        for value in set(MADE_ID.findall(text)):
            if not any(value in text for text in known):
                yield f"{one.id}: compares with {value}, which an instance makes up; ask for a relation"
        if one.looks_for_words():
            yield f"{one.id}: looks for words in the answer; only a checkpoint of kind `answer` does, for facts"
        if one.kind == "python":
            yield from (f"{one.id}: {problem}" for problem in checkpoint_problems(one.python))
    if asks(proposal.task) and not any(one.kind == "answer" for one in checks.checkpoints):
        yield "checkpoints: the task wants to be told something, and none is of kind `answer`"
    tools = stage.environment.tools
    for free in checks.free:
        if free.tool not in tools or free.argument not in tools[free.tool].properties:
            yield f"free: there is no argument {free.argument!r} of {free.tool!r}"


async def _start_findings(checks: Checks, proposal: Proposal, stage: Playground) -> list[str]:
    scene = await stage.launch(setup=proposal.setup)
    try:
        idle = await scene.judge(checks.checkpoints)
        refused = await scene.judge(checks.checkpoints, answer=REFUSAL)
    except CheckpointError as error:
        return [str(error)]
    finally:
        await scene.close()
    found = [f"{said.checkpoint}: cannot be asked: {said.error}" for said in idle.verdicts if said.error]
    if found:
        return found
    found += [
        f"{said.checkpoint}: a goal, but it holds before anything was done"
        if said.role == "goal"
        else f"{said.checkpoint}: a guard, but it does not hold at the start; seen: {said.seen or 'nothing'}"
        for said in idle.verdicts
        if said.holds == (said.role == "goal")
    ]
    if refused.reward > 0:
        found.append(f"an agent that only says {REFUSAL!r} earns {refused.reward:g}")
    return found
