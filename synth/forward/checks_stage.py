"""The stage `checks`: the checklist, and its checkpoints."""

import json
from dataclasses import dataclass
from pathlib import Path

from servers.records import Record
from servers.scenario.scenario import PlayRecord, Scenario, Solution
from synth.forward.brief import Brief
from synth.forward.checks import Checks, check_findings
from synth.forward.proposal_stages import Idea
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts
from synth.play.playground import Playground

CHECK = Prompt.load(Path(__file__).with_name("check.md"))


@dataclass(frozen=True)
class Checking:
    """Asks for checklist and checkpoints of one proposal, and for better ones if they proved too weak."""

    bundle: Playground

    async def make(self, made: Artefacts, asker: Asker) -> Record:
        """Ask for them."""
        proposal = made[Idea].proposal

        async def accept(answer: Checks) -> list[str]:
            return await check_findings(answer, proposal, self.bundle)

        messages = CHECK.fill(
            setup=proposal.setup,
            task=proposal.task,
            name=proposal.title,
            steps=" → ".join(proposal.steps),
            why=proposal.why,
            earlier=_earlier(made),
            **Brief(self.bundle.environment).holes(),
        )
        return await asker.ask(messages, Checks, accept)


def _earlier(made: Artefacts) -> str:
    """The earlier checkpoints and their faults. Empty the first time."""
    idea = made[Idea]
    reasons = made.evidence or ((f"Nobody passed. {idea.why}", *idea.evidence) if idea.fault else ())
    if not reasons or made.before is None:
        return ""
    before = json.dumps(made.before.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False, indent=1)
    listed = "\n".join(f"- {reason}" for reason in reasons)
    return f"# What you wrote before\n\n```json\n{before}\n```\n\nIt was tried, and this was found:\n{listed}\n"


def drafted(
    name: str, idea: Idea, checks: Checks, solution: Solution | None = None, played: PlayRecord | None = None
) -> Scenario:
    """The scenario as far as it is known."""
    proposal = idea.proposal
    return Scenario(
        id=name,
        title=proposal.title,
        task=proposal.task,
        setup=proposal.setup,
        tags=("forward", *sorted({call.tool for call in (solution.calls if solution else ())})),
        checkpoints=checks.checkpoints,
        solution=solution,
        played=played,
    )
