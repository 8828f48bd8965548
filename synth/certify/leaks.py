"""Leaks: values in a task or a tool that the agent should find out, and words of checkpoints."""

import re

from agent_client.references import REFERENCE
from servers.scenario.checkpoints.kinds import Checkpoint
from synth.certify.agents.wrong_answers import IDLE
from synth.solutions.reference_run import ReferenceRun

SHORTEST = 2


def of_text(reference: ReferenceRun) -> list[str]:
    """Leaks in the texts of a scenario and of its environment."""
    task = reference.scenario.task
    found = [f"the task names the tool {name}" for name in reference.environment.tools if "_" in name and name in task]
    for one in reference.made:
        for name, planned in one.step.arguments.items():
            value = one.arguments[name]
            looked_up = isinstance(planned, str) and REFERENCE.search(planned)
            if looked_up and isinstance(value, str) and len(value) >= SHORTEST and _is_key(reference, value, task):
                found.append(f"the task gives {value!r}, which call {one.step.number} is to find out as {name}")
    outputs = [one.outcome.text for one in reference.made]
    shown = [reference.environment.instructions, *outputs]
    for checkpoint in reference.scenario.checkpoints:
        told = [text for text in _words(checkpoint) if any(text in place for place in (task, *shown))]
        found += [f"checkpoint {checkpoint.id}: the agent can read {text[:60]!r}" for text in told]
    return found


async def of_answers(reference: ReferenceRun) -> list[str]:
    """A finding if the task's own words pass as an answer."""
    if not await reference.refuses(IDLE) or await reference.refuses(reference.scenario.task):
        return []
    return ["the task tells what the answer is to tell: its own words pass as an answer"]


def _is_key(reference: ReferenceRun, value: str, task: str) -> bool:
    made_by_us = value in reference.rows.tables_of and re.search(r"[_\d]", value) is not None
    return made_by_us and re.search(rf"(?<!\w){re.escape(value)}(?!\w)", task) is not None


def _words(checkpoint: Checkpoint) -> list[str]:
    return [text for text in (checkpoint.question, *checkpoint.hidden_texts()) if len(text) >= 12]
