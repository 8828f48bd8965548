"""Of what a scenario's certificate is: it holds for one environment and one scenario, to the byte."""

import hashlib

from servers.answer import JUDGE_VERSION
from servers.bundle.environment import Environment
from servers.bundle.scenario import Scenario


def digest_of(environment: Environment, scenario: Scenario) -> str:
    """What tells for which environment and which scenario a certificate was made."""
    told = scenario.model_dump_json(exclude={"certificate", "provenance"}, exclude_defaults=True)
    text = f"{environment.digest}\n{told}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_current(environment: Environment, scenario: Scenario) -> bool:
    """Whether a scenario has a certificate, and neither it, its environment nor the judge of answers changed since."""
    kept = scenario.certificate
    return kept is not None and kept.judge == JUDGE_VERSION and kept.digest == digest_of(environment, scenario)
