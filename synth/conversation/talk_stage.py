"""The stage `talk`: a writer gives the person, the opening, and the facts."""

from dataclasses import dataclass
from pathlib import Path

from servers.records import Record
from servers.scenario.scenario import Scenario
from synth.conversation.choices import needed
from synth.conversation.talk import Talk, findings
from synth.forward.brief import Brief
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts
from synth.play.playground import Playground
from synth.solutions.reference_run import played

CONVERSE = Prompt.load(Path(__file__).with_name("converse.md"))
MARK = "_talk"
LONGEST_ID = 64


@dataclass(frozen=True)
class Writing:
    """Asks for the conversation of one scenario, and for a better one if nobody completed it."""

    bundle: Playground
    origin: Scenario

    async def make(self, made: Artefacts, asker: Asker) -> Record:
        """Ask for it."""
        reference = await played(self.bundle, self.origin)
        await reference.close()
        known = needed(reference)

        async def accept(answer: Talk) -> list[str]:
            return findings(answer, self.origin.task, known, self.bundle, reference.rows)

        holes = Brief(self.bundle.environment).holes()
        messages = CONVERSE.fill(
            name=self.origin.title,
            task=self.origin.task,
            choices="; ".join(choice.words for choice in known.choices),
            earlier=_earlier(made),
            **{name: holes[name] for name in ("title", "about", "clock", "policy", "tools")},
        )
        return await asker.ask(messages, Talk, accept)


def _earlier(made: Artefacts) -> str:
    """The earlier text and its result. Empty the first time."""
    if not made.evidence or made.before is None:
        return ""
    before = made.before.model_dump_json(indent=1)
    seen = "\n\n".join(made.evidence)
    told = "Nobody came to its end. What was said and done:"
    return f"# What you wrote before\n\n```json\n{before}\n```\n\n{told}\n\n{seen}\n"


def name_of(origin: Scenario) -> str:
    """The id of a scenario's conversation."""
    return origin.id[: LONGEST_ID - len(MARK)] + MARK


def conversation(origin: Scenario, talk: Talk) -> Scenario:
    """The scenario as a conversation: start, checkpoints and reference are the origin's."""
    return origin.model_copy(
        update={
            "id": name_of(origin),
            "title": f"{origin.title}, in conversation",
            "persona": talk.whole(),
            "tags": ("conversation", *origin.tags),
            "played": None,
            "provenance": None,
            "certificate": None,
        }
    )
