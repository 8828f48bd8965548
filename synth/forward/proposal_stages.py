"""The stages `proposals`, where a writer proposes several scenarios, and `proposal`, which repairs one."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from servers.records import Record
from servers.scenario.scenario import Scenario
from synth.forward.brief import Brief
from synth.forward.proposal import Proposal, proposal_findings
from synth.llm.prompt import Prompt
from synth.pipeline.asker import Asker, Rejected
from synth.pipeline.stage import Artefacts
from synth.play.playground import Playground

PROPOSE = Prompt.load(Path(__file__).with_name("propose.md"))
MEND = Prompt.load(Path(__file__).with_name("mend.md"))
MOST_SHOWN = 60
LONGEST_SHOWN = 200

Fault = Literal["", "task", "checkpoints", "solver"]


class Proposals(Record):
    """Several scenarios, as different as can be."""

    proposals: tuple[Proposal, ...]


class Mended(Record):
    """Whose fault it was that nobody passed; the task and its rows, mended where the fault is theirs."""

    fault: Literal["task", "checkpoints", "solver"]
    why: str
    setup: str
    task: str


class Idea(Record):
    """A proposal. If nobody solved it: the supposed cause, and the evidence."""

    proposal: Proposal
    fault: Fault = ""
    why: str = ""
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True)
class Round:
    """Asks for proposals that differ from each other and from existing ones."""

    bundle: Playground
    there: Sequence[Scenario]
    taken: frozenset[str]
    """The ids of earlier proposals, kept or dropped."""
    wanted: int

    async def make(self, _made: Artefacts, asker: Asker) -> Record:
        """Ask for them."""
        holes = Brief(self.bundle.environment).holes()
        messages = PROPOSE.fill(n=str(self.wanted), there=_listed(self.there), used=self._used(), **holes)
        return await asker.ask(messages, Proposals, self._accept)

    async def _accept(self, answer: Proposals) -> list[str]:
        found = [f"{len(answer.proposals)} proposals; {self.wanted} are asked"] * (len(answer.proposals) != self.wanted)
        taken = {*self.taken, *(one.id for one in self.there)}
        tasks = [one.task for one in self.there]
        for proposal in answer.proposals:
            if proposal.id in taken:
                found.append(f"{proposal.title!r}: this title was proposed before")
            found += await proposal_findings(proposal, self.bundle, tasks)
            taken.add(proposal.id)
            tasks.append(proposal.task)
        return found

    def _used(self) -> str:
        """The usage of each command, the least used first."""
        tags = Counter(tag for one in self.there for tag in one.tags)
        names = [name for name, tool in self.bundle.environment.tools.items() if tool.writes]
        return ", ".join(f"{name} {tags[name]}" for name in sorted(names, key=lambda name: (tags[name], name)))


@dataclass(frozen=True)
class Ideas:
    """Yields a proposal. Asks the writer only if nobody solved it."""

    bundle: Playground
    proposals: dict[str, Proposal]
    there: Sequence[Scenario]

    async def make(self, made: Artefacts, asker: Asker) -> Record:
        """The proposal, original or repaired. Raises Rejected if the solver is to blame."""
        before = made.before
        if not made.evidence or not isinstance(before, Idea):
            return Idea(proposal=self.proposals[made.environment])

        def whole(answer: Mended) -> Proposal:
            if answer.fault != "task":
                return before.proposal
            return before.proposal.model_copy(update={"setup": answer.setup, "task": answer.task})

        async def accept(answer: Mended) -> list[str]:
            if answer.fault == "task" and whole(answer) == before.proposal:
                return ["the fault is said to be the task's, but setup and task are as they were"]
            return await proposal_findings(whole(answer), self.bundle, [one.task for one in self.there])

        messages = MEND.fill(
            setup=before.proposal.setup,
            task=before.proposal.task,
            evidence="\n\n".join(made.evidence),
            **Brief(self.bundle.environment).holes(),
        )
        answer = await asker.ask(messages, Mended, accept)
        if answer.fault == "solver":
            raise Rejected("proposal", [f"nobody solved it, and the fault is the solver's: {answer.why}"])
        return Idea(proposal=whole(answer), fault=answer.fault, why=answer.why, evidence=made.evidence)


def _listed(there: Sequence[Scenario]) -> str:
    shown = [f"- {one.title}: {one.task[:LONGEST_SHOWN]}" for one in there[-MOST_SHOWN:]]
    return "\n".join(shown) or "- none yet"
