# type: ignore  # It runs where verifiers is installed, whose types are not known here.
"""A farm's scenarios as an environment of verifiers: rows that name scenarios, tools over MCP, the farm's reward.

verifiers plays: it asks the model and keeps the tokens, in `vf-eval` and in trainers that take its environments.
"""

import json

import verifiers as vf
from datasets import Dataset

from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode
from registry.client import every_item
from servers.errors import FarmError

EPISODE, SCORE = "farm_episode", "farm_score"


def load_environment(
    environment="library_loans",
    scenarios=None,
    farm="",
    token_file="",
    library=(),
    max_turns=40,
    **more,
):
    """An environment of the farm, for `vf-eval envfarm-verifiers -a '{"environment": "library_loans"}'`.

    Args:
        environment: its id.
        scenarios: ids of scenarios. All by default.
        farm, token_file, library: as `FarmLink` takes them. Without `farm` there is a farm of its own.
        max_turns: the most turns of the model.
        **more: what `vf.Environment` takes.
    """
    link = FarmLink(farm, token_file=token_file, library=tuple(library))
    told = link.wait(link.client.environment(environment))
    tools = [vf.Tool(name=one.name, description=one.description, parameters=one.arguments) for one in told.tools]
    rows = link.wait(_rows(link, environment, scenarios))
    return FarmVerifiersEnv(
        link,
        eval_dataset=Dataset.from_list(rows),
        dataset=Dataset.from_list(rows),
        tool_defs=tools,
        max_turns=max_turns,
        rubric=_rubric(),
        **more,
    )


async def _rows(link, environment, scenarios):
    """A row for each scenario: the rules and the task as messages, and in `info` which scenario it is."""
    cards = await every_item(lambda offset: link.client.scenarios(environment, offset=offset))
    chosen = scenarios or [card.id for card in cards if card.second is None]
    episode = LeasedEpisode(link, environment, chosen[0])
    await episode.begin()
    rules = episode.toolbox.instructions
    await episode.end()
    rows = []
    for scenario in chosen:
        task = (await link.client.scenario(environment, scenario)).told
        prompt = [{"role": "system", "content": rules}, {"role": "user", "content": task}]
        told = {"environment": environment, "scenario": scenario, "seed": 0}
        rows.append({"prompt": prompt, "answer": "", "task": environment, "info": json.dumps(told)})
    return rows


def _rubric():
    """The farm's reward, and as metrics success and the share of checkpoints that hold."""
    rubric = vf.Rubric(funcs=[reward], weights=[1.0])
    rubric.add_metric(success)
    rubric.add_metric(checkpoints_held)
    return rubric


async def reward(state):
    """All guards hold ? weighted share of the goals that hold : 0."""
    return state[SCORE].reward if state.get(SCORE) else 0.0


async def success(state):
    return float(bool(state.get(SCORE) and state[SCORE].success))


async def checkpoints_held(state):
    verdicts = state[SCORE].verdicts if state.get(SCORE) else ()
    return sum(one.holds for one in verdicts) / max(1, len(verdicts))


class FarmVerifiersEnv(vf.MultiTurnEnv):
    """Each rollout has an instance of its own. A failure of the farm is `vf.InfraError`, which trainers leave out."""

    def __init__(self, link, **more):
        super().__init__(**more)
        self.link = link

    async def setup_state(self, state):
        info = state["info"] if isinstance(state["info"], dict) else json.loads(state["info"])
        episode = LeasedEpisode(self.link, info["environment"], info["scenario"], seed=info.get("seed", 0))
        await self._done(episode.begin())
        state[EPISODE] = episode
        return state

    @vf.stop
    async def has_answered(self, state):
        """The model called no tool: what it said is its answer."""
        return bool(state["trajectory"]) and not state["trajectory"][-1]["completion"][-1].tool_calls

    async def env_response(self, messages, state, **_):
        results = []
        for call in messages[-1].tool_calls or []:
            text = await self._answer(state[EPISODE], call)
            results.append(vf.ToolMessage(role="tool", content=text, tool_call_id=call.id))
        return results

    async def _answer(self, episode, call):
        try:
            arguments = json.loads(call.arguments or "{}")
            if not isinstance(arguments, dict):
                raise ValueError("they are no object")
        except ValueError as error:
            return f"the arguments of {call.name} could not be read: {error}. Nothing was done."
        return (await self._done(episode.call(call.name, arguments))).text

    @vf.cleanup
    async def judge(self, state):
        """Score the state with the last words, and give the instance back."""
        episode = state.pop(EPISODE, None)
        if episode is None:
            return
        try:
            state[SCORE] = await self._done(episode.score(_answer_of(state)))
        except vf.InfraError as error:
            state["error"] = state.get("error") or error
        finally:
            await self.link.do(episode.end())

    async def _done(self, work):
        try:
            return await self.link.do(work)
        except FarmError as error:
            raise vf.InfraError(str(error)) from error


def _answer_of(state):
    """What the model said last, if it ended by saying something."""
    last = state["completion"][-1] if state.get("completion") else None
    if last is None or last.role != "assistant" or last.tool_calls:
        return ""
    return last.content if isinstance(last.content, str) else ""
