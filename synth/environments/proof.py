"""Proof: the finished bundle is proved without a model. A finding goes back to the code or the rows."""

from collections.abc import Sequence

from servers.authoring.proof import PROOF_FILE
from servers.bundle.environment import as_json
from synth.environments.interface import Interface, Plan
from synth.pipeline.asker import Asker
from synth.pipeline.stage import Artefacts, GoBack, Stage
from synth.prove.proof import Finding, Proof
from synth.prove.prover import prove


async def prove_bundle(made: Artefacts, _asker: Asker) -> Proof:
    """Prove the bundle and write its proof.

    Raises:
        GoBack: to the first rows if some tools only ever refused and nothing else was found; the second time, or for
            any other finding, to the code.
    """
    proof = await prove(made.bundle)
    if not proof.sound:
        raise GoBack(destination(proof, made.sent), evidence_of(proof.findings, made[Interface].tools))
    made.write(f"bundle/{made.environment}/{PROOF_FILE}", as_json(proof))
    return proof


STAGE = Stage("prove", Proof, prove_bundle, needs_model=False)


def destination(proof: Proof, sent: Sequence[str]) -> str:
    """The stage that must repair a finding: the rows, once, if tools only refused, else the code."""
    only_refused = all(one.check == "succeeds" and proof.tools[one.subject].refused for one in proof.findings)
    return "seed" if only_refused and "seed" not in sent else "code"


def evidence_of(findings: Sequence[Finding], plans: Sequence[Plan]) -> list[str]:
    """The findings, by the tools that they concern. Those of a rule concern the tools that enforce it."""
    names = {plan.name for plan in plans}
    told: list[str] = []
    for finding in findings:
        tools = [finding.subject] if finding.subject in names else []
        tools = tools or [plan.name for plan in plans if finding.subject in plan.enforces and plan.kind == "command"]
        about = f"{finding.check}: {finding.subject}: {finding.text} (seen {finding.times} times)"
        told += [f"{tool}: {about}" for tool in tools] or [about]
    return told
