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

Everything here is importable from where it is defined, too; those places may move, and these names stay.
"""

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
from evals.rollout import Rollout, rollout
from evals.runs.suite import Suite, read_suite
from registry.client import FarmClient, LeasedInstance
from registry.farm import Address, address_of, private
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
