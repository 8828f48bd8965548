"""The players of a suite: the agent of each scenario, and the simulated user if there is one."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from agent_client.errors import EndpointError, EndpointRefused
from agent_client.model import Model
from agent_client.models.call_text import HERMES, JSON
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import NamedKey, Retries
from agent_client.models.prompted_model import PromptedModel
from agent_client.models.simulated_person import SimulatedPerson
from agent_client.person import Person
from evals.benchmarks.harness import person_of
from evals.demo import gold_model, idle_model, sabotaged_model
from evals.episode import OwnAgent
from evals.programs.program import MIB, AgentProgram, ProgramLimits, ProgramWalls
from evals.runs.records import Subject
from evals.runs.suite import (
    Agent,
    ChatAgent,
    CommandAgent,
    ModelEndpoint,
    ScriptedAgent,
    SimulatedUser,
    SolutionAgent,
    Suite,
)
from servers.errors import InfraError, RequestError
from servers.records import KEY, USER_KEY

CALL_TEXTS = {"hermes": HERMES, "json": JSON}


@dataclass(frozen=True)
class Players:
    """The agent and the user of a suite. All rollouts share a model and its connections."""

    agent: Agent
    chat: Model | None = None
    user: Model | None = None
    program: AgentProgram | None = None

    def agent_at(self, subject: Subject) -> Model | OwnAgent:
        if self.chat is not None:
            return self.chat
        if self.program is not None:
            return self.program
        scenario = subject.detail.scenario
        match self.agent:
            case SolutionAgent(solution=solution):
                return gold_model(solution, name="solution")
            case ScriptedAgent(kind="gold"):
                return gold_model(scenario.reference())
            case ScriptedAgent(kind="sabotaged"):
                return sabotaged_model(scenario.reference(), set(subject.writers))
            case _:
                return idle_model()

    def person_at(self, subject: Subject) -> Person | None:
        """The simulated user. None without a persona or without a model for it."""
        scenario = subject.detail.scenario
        if scenario.is_of_benchmark:
            return None if self.chat is None else person_of(scenario, self.user)
        if self.user is None or scenario.persona is None or self.chat is None:
            return None
        return SimulatedPerson(self.user, persona=scenario.persona, task=scenario.task)


@asynccontextmanager
async def players(
    suite: Suite,
    endpoint: ModelEndpoint,
    *,
    retries: Retries = Retries(),  # noqa: B008 - it does not change
    hidden: tuple[Path, ...] = (),
    ask_models: bool = False,
    human: Model | None = None,
) -> AsyncGenerator[Players]:
    """The players of a suite, with open connections.

    `ask_models` asks each model for one token first, as a run of many rollouts should. `hidden` are folders with a
    control token, which no program may read through its walls. `human` plays in the place of the suite's agent.

    Raises:
        RequestError: an endpoint refuses its key, does not have its model, or is none.
        InfraError: an endpoint does not answer, or fails.
    """
    async with AsyncExitStack() as stack:
        chat: ChatModel | None = None
        user: ChatModel | None = None
        if isinstance(suite.agent, ChatAgent):
            key = NamedKey(endpoint.api_key, KEY)
            chat = await stack.enter_async_context(_model(suite.agent, endpoint.base_url, key, retries))
        if suite.user is not None:
            key = NamedKey(endpoint.user_api_key, USER_KEY)
            if not endpoint.user_api_key:
                key = NamedKey(endpoint.api_key, f"{KEY} or {USER_KEY}")
            user = await stack.enter_async_context(_model(suite.user, endpoint.base_url, key, retries))
        for model in (chat, user):
            if model is not None:
                await _check(model, ask=ask_models)
        program = program_of(suite.agent, hidden) if isinstance(suite.agent, CommandAgent) else None
        yield Players(suite.agent, human or _in_words(suite.agent, chat), user, program)


def _model(told: ChatAgent | SimulatedUser, base_url: str, key: NamedKey, retries: Retries) -> ChatModel:
    return ChatModel(
        told.base_url or base_url,
        told.model,
        api_key=key,
        temperature=told.temperature,
        max_tokens=told.max_tokens,
        return_thinking=isinstance(told, ChatAgent) and told.return_thinking,
        seconds=told.seconds,
        retries=retries,
    )


def program_of(told: CommandAgent, hidden: tuple[Path, ...]) -> AgentProgram:
    """The program of an agent. Raises RequestError if it is not found, or its walls cannot be raised."""
    walls = ProgramWalls(tuple(map(Path, told.read)), hidden) if told.walls else None
    limits = ProgramLimits(processes=told.processes, memory=told.memory * MIB)
    return AgentProgram(told.command, name=told.name, walls=walls, limits=limits)


async def _check(model: ChatModel, *, ask: bool) -> None:
    try:
        await model.check()
        if ask:
            await model.check_model()
    except EndpointRefused as error:
        raise RequestError(f"{error}; nothing was played") from None
    except EndpointError as error:
        raise InfraError(f"{error}; nothing was played") from None


def _in_words(agent: Agent, chat: ChatModel | None) -> Model | None:
    if chat is None or not isinstance(agent, ChatAgent) or agent.tools == "function_calling":
        return chat
    return PromptedModel(chat, CALL_TEXTS[agent.tools])
