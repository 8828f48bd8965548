"""What a script of yours needs of Envfarm, under one name: `import envfarm`.

A farm for as long as a script runs, one episode on it, and its reward:

    async with (
        envfarm.private((envfarm.OWN_LIBRARY,)) as address,
        envfarm.FarmClient(address.url, address.token) as farm,
    ):
        scenario = await farm.scenario("library_loans", "renew_card")
        run = await envfarm.rollout(farm, scenario, model, limits=envfarm.Limits(turns=20))
        print(run.outcome, run.reward)

An instance of your own, whose agent you drive yourself:

    async with farm.leased("library_loans", "renew_card") as live, live.connect() as toolbox:
        result = await toolbox.call("find_members", {"name": "Dov"})
        score = await live.score("I found the card.")

An agent that drives itself, with a URL and a token: a program, or a function that returns its last words:

    run = await envfarm.rollout(farm, scenario, envfarm.AgentProgram("./agent.sh"), limits=envfarm.Limits(seconds=300))

Everything here is importable from where it is defined, too; those places may move, and these names stay.
A name is imported when it is first used, so `import envfarm` itself is fast.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_client.errors import AgentError, EndpointError, FarmUnreachable
    from agent_client.model import Model, Reply
    from agent_client.models.chat_model import ChatModel
    from agent_client.models.prompted_model import PromptedModel
    from agent_client.models.simulated_person import SimulatedPerson
    from agent_client.person import Person
    from agent_client.play import Limits, play
    from agent_client.scripted_model import ScriptedCall, ScriptedModel
    from agent_client.toolbox import Toolbox, connect
    from agent_client.trace import ToolCall, ToolResult, ToolSpec, Trace, Turn
    from evals.programs.agent_task import AgentTask
    from evals.programs.function import AgentFunction
    from evals.programs.program import AgentProgram, ProgramLimits, ProgramWalls
    from evals.rollout import Rollout, rollout
    from evals.runs.suite import Suite, read_suite
    from registry.client import Address, FarmClient, LeasedInstance, address_of
    from registry.farm import private
    from registry.messages import Lease, ScenarioDetail, Score
    from servers.bundle.environment import Environment, load
    from servers.bundle_library import OWN_LIBRARY, Library
    from servers.errors import BundleError, CapacityError, FarmError, InfraError, NotFound, RequestError
    from servers.scenario.scenario import Scenario, Solution
    from servers.scenario.scenario_file import load_scenarios

__all__ = [
    "OWN_LIBRARY",
    "Address",
    "AgentError",
    "AgentFunction",
    "AgentProgram",
    "AgentTask",
    "BundleError",
    "CapacityError",
    "ChatModel",
    "EndpointError",
    "Environment",
    "FarmClient",
    "FarmError",
    "FarmUnreachable",
    "InfraError",
    "Lease",
    "LeasedInstance",
    "Library",
    "Limits",
    "Model",
    "NotFound",
    "Person",
    "ProgramLimits",
    "ProgramWalls",
    "PromptedModel",
    "Reply",
    "RequestError",
    "Rollout",
    "Scenario",
    "ScenarioDetail",
    "Score",
    "ScriptedCall",
    "ScriptedModel",
    "SimulatedPerson",
    "Solution",
    "Suite",
    "ToolCall",
    "ToolResult",
    "ToolSpec",
    "Toolbox",
    "Trace",
    "Turn",
    "address_of",
    "connect",
    "load",
    "load_scenarios",
    "play",
    "private",
    "read_suite",
    "rollout",
]

_DEFINED_IN = {
    "agent_client.errors": ("AgentError", "EndpointError", "FarmUnreachable"),
    "agent_client.model": ("Model", "Reply"),
    "agent_client.models.chat_model": ("ChatModel",),
    "agent_client.models.prompted_model": ("PromptedModel",),
    "agent_client.models.simulated_person": ("SimulatedPerson",),
    "agent_client.person": ("Person",),
    "agent_client.play": ("Limits", "play"),
    "agent_client.scripted_model": ("ScriptedCall", "ScriptedModel"),
    "agent_client.toolbox": ("Toolbox", "connect"),
    "agent_client.trace": ("ToolCall", "ToolResult", "ToolSpec", "Trace", "Turn"),
    "evals.programs.agent_task": ("AgentTask",),
    "evals.programs.function": ("AgentFunction",),
    "evals.programs.program": ("AgentProgram", "ProgramLimits", "ProgramWalls"),
    "evals.rollout": ("Rollout", "rollout"),
    "evals.runs.suite": ("Suite", "read_suite"),
    "registry.client": ("Address", "FarmClient", "LeasedInstance", "address_of"),
    "registry.farm": ("private",),
    "registry.messages": ("Lease", "ScenarioDetail", "Score"),
    "servers.bundle.environment": ("Environment", "load"),
    "servers.bundle_library": ("OWN_LIBRARY", "Library"),
    "servers.errors": ("BundleError", "CapacityError", "FarmError", "InfraError", "NotFound", "RequestError"),
    "servers.scenario.scenario": ("Scenario", "Solution"),
    "servers.scenario.scenario_file": ("load_scenarios",),
}
_MODULES = {name: module for module, names in _DEFINED_IN.items() for name in names}


def __getattr__(name: str) -> object:
    """Import a public name when it is first used: all of them together take seconds."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(importlib.import_module(_MODULES[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
