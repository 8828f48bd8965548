# type: ignore  # It runs where Inspect AI is installed, whose types are not known here.
"""A farm's environments as tasks of Inspect AI: `inspect eval envfarm/library_loans`.

Each sample leases an instance. Its tools come from the instance's MCP server, its scores from the farm's verdicts.
"""

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageSystem
from inspect_ai.scorer import Score, Target, mean, scorer, stderr
from inspect_ai.solver import generate, solver
from inspect_ai.tool import mcp_server_http

from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode, verdict_lines
from registry.client import every_item
from servers.bundle.card import bundles_in
from servers.bundle_library import OWN_LIBRARY

NOWHERE = "envfarm.tasks"
"""The module that tasks name as theirs. There is none, so Inspect takes their names as they are."""
EPISODES = {}
"""The episodes under way, by the id of their sample."""


def farm_task(environment, scenarios="", farm="", token_file="", library="", max_messages=120):
    """An environment of a farm as a task of Inspect.

    Args:
        environment: its id.
        scenarios: ids of scenarios with commas between them. All by default.
        farm, token_file, library: as `FarmLink` takes them. Without `farm` there is a farm of its own.
        max_messages: the most messages of a sample.
    """
    link = FarmLink(farm, token_file=token_file, library=tuple(part for part in library.split(",") if part))
    samples = link.wait(_samples(link, environment, _listed(scenarios)))
    return Task(
        name=environment,
        dataset=MemoryDataset(samples, name=environment),
        setup=leased(link),
        solver=generate(),
        scorer=verdicts(link),
        cleanup=_cleanup(link),
        message_limit=max_messages,
    )


async def _samples(link, environment, chosen):
    cards = await every_item(lambda offset: link.client.scenarios(environment, offset=offset))
    ids = [card.id for card in cards if (card.id in chosen if chosen else card.second is None)]
    tasks = {one: (await link.client.scenario(environment, one)).told for one in ids}
    return [
        Sample(id=one, input=task, metadata={"environment": environment, "scenario": one})
        for one, task in tasks.items()
    ]


@solver
def leased(link):
    """Lease an instance, and give the model its rules and its tools."""

    async def solve(state, generate):
        episode = LeasedEpisode(
            link, state.metadata["environment"], state.metadata["scenario"], seed=max(0, state.epoch - 1)
        )
        await link.do(episode.begin())
        EPISODES[state.uuid] = episode
        state.messages.insert(0, ChatMessageSystem(content=episode.toolbox.instructions))
        live = episode.live
        server = mcp_server_http(name=episode.environment, url=live.url, authorization=live.token, timeout=60)
        state.tools = [*state.tools, *await server.tools()]
        return state

    return solve


@scorer(metrics={"reward": [mean(), stderr()], "success": [mean(), stderr()]})
def verdicts(link):
    """The farm's reward and success. A farm that fails raises, so that Inspect counts an error and no zero."""

    async def score(state, target: Target):
        judged = await link.do(EPISODES[state.uuid].score(state.output.completion))
        return Score(
            value={"reward": judged.reward, "success": float(judged.success)},
            answer=state.output.completion,
            explanation=verdict_lines(judged),
            metadata={"score": judged.model_dump(mode="json")},
        )

    return score


def _cleanup(link):
    async def end(state):
        episode = EPISODES.pop(state.uuid, None)
        if episode is not None:
            await link.do(episode.end())

    return end


def _listed(text):
    return {part.strip() for part in text.split(",") if part.strip()} if isinstance(text, str) else set(text)


def _registered(environment):
    def run(scenarios="", farm="", token_file="", library="", max_messages=120):
        return farm_task(environment, scenarios, farm, token_file, library, max_messages)

    run.__name__ = run.__qualname__ = environment
    run.__module__ = NOWHERE
    return task(name=f"envfarm/{environment}")(run)


TASKS = {environment: _registered(environment) for environment in bundles_in([OWN_LIBRARY])}
"""The farm's own environments. For others, call `farm_task` in a task of your own."""
