"""Of what a scenario's certificate is: it holds for one environment and one scenario, to the byte."""

import hashlib

from servers.bundle import Environment
from servers.scenario import Scenario


def digest_of(environment: Environment, scenario: Scenario) -> str:
    """What tells for which environment and which scenario a certificate was made."""
    told = scenario.model_dump_json(exclude={"certificate", "provenance"}, exclude_defaults=True)
    text = f"{environment.digest}\n{told}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def is_current(environment: Environment, scenario: Scenario) -> bool:
    """Whether a scenario has a certificate, and neither it nor its environment has changed since."""
    return scenario.certificate is not None and scenario.certificate.digest == digest_of(environment, scenario)
