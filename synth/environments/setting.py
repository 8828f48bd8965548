"""Setting: from a title, or a mined topic, to the system of an environment."""

import re
from collections.abc import Iterator
from pathlib import Path

from servers.records import Record
from synth.llm.prompt import Prompt
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, Stage

PROMPT = Prompt.load(Path(__file__).with_name("setting.md"))
LENGTHS = {"title": (3, 60), "introduction": (120, 700), "scope": (200, 3500)}


class Setting(Record):
    """What system it is, who uses it, what can be done in it, and what is left out.

    The introduction becomes the environment's description, which agents read first.
    """

    title: str
    introduction: str
    scope: str


async def setting(made: Artefacts, asker: Asker) -> Setting:
    """Ask for the setting of a topic."""
    given = made[Topic]
    messages = PROMPT.fill(
        title=given.title,
        introduction=given.introduction or "(none)",
        task=given.task or "(none)",
    )
    return await asker.ask(messages, Setting, accept_setting)


STAGE = Stage("setting", Setting, setting)


async def accept_setting(answer: Setting) -> list[str]:
    """The faults of a setting."""
    return list(_findings(answer))


def _findings(answer: Setting) -> Iterator[str]:
    for field, (fewest, most) in LENGTHS.items():
        length = len(getattr(answer, field).strip())
        if not fewest <= length <= most:
            yield f"{field}: has {length} characters; {fewest} to {most} are asked"
    if "\n" in answer.title.strip():
        yield "title: is one line"
    for word in ("environment", "simulat", "benchmark", "LLM", "database schema"):
        if re.search(rf"\b{word}", answer.introduction, re.IGNORECASE):
            yield f"introduction: says {word!r}; speak of the system as if it were real: the agent reads this"
