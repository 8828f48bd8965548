# type: ignore  # It runs where openenv-core is installed, whose types are not known here.
"""A farm's environment as a server of OpenEnv: its clients play through reset, step and state.

`python -m evals.frameworks.openenv_server library_loans --port 8000`. Each session has an instance of its own.
The agent's tools and the trainer's reset share one connection there, so give its URL to trainers and never to an agent.
"""

import argparse
import socket
import sys

import uvicorn
from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.mcp_types import (
    CallToolAction,
    CallToolObservation,
    ListToolsAction,
    ListToolsObservation,
    Tool,
)
from openenv.core.env_server.types import EnvironmentMetadata, State

from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode, verdict_lines

ANSWER = "answer"
"""The step that ends an episode: a call of this name, whose argument `text` is the agent's last words."""
ANSWER_TOOL = Tool(
    name=ANSWER,
    description="End the task, and say what the user shall hear.",
    input_schema={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)


class FarmOpenEnv(Environment):
    """Plays scenarios of one environment, one after another. `reset(scenario=…)` chooses, `seed` is the instance's."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, link, environment):
        super().__init__()
        self._link = link
        self._environment = environment
        self._episode = None
        self._state = State(episode_id=None, step_count=0)
        self._tools = self._link.wait(self._link.client.environment(environment)).tools

    def reset(self, seed=None, episode_id=None, scenario=None, **_):
        self.close()
        if scenario is None:
            scenario = self._link.wait(self._link.client.scenarios(self._environment, limit=1)).items[0].id
        self._episode = LeasedEpisode(self._link, self._environment, scenario, seed=seed or 0)
        self._link.wait(self._episode.begin())
        self._state = State(episode_id=episode_id or self._episode.live.id, step_count=0)
        told = {"task": self._episode.task, "instructions": self._episode.toolbox.instructions, "scenario": scenario}
        return CallToolObservation(tool_name="reset", result=told)

    def step(self, action, timeout_s=None, **_):
        if isinstance(action, ListToolsAction):
            tools = [Tool(name=t.name, description=t.description, input_schema=t.arguments) for t in self._tools]
            return ListToolsObservation(tools=[*tools, ANSWER_TOOL])
        if self._episode is None:
            raise RuntimeError("no episode: call reset first")
        self._state.step_count += 1
        if action.tool_name == ANSWER:
            return self._end(str(action.arguments.get("text", "")))
        result = self._link.wait(self._episode.call(action.tool_name, action.arguments))
        told = {"error": result.text} if result.is_error else result.structured
        return CallToolObservation(tool_name=action.tool_name, result=result.text if told is None else told)

    def _end(self, answer):
        """Judge the state. If the farm fails, this raises: there is no reward then, and no zero."""
        score = self._link.wait(self._episode.score(answer))
        told = {"success": score.success, "verdicts": verdict_lines(score)}
        return CallToolObservation(tool_name=ANSWER, result=told, done=True, reward=score.reward)

    @property
    def state(self):
        return self._state

    def close(self):
        if self._episode is not None:
            self._link.wait(self._episode.end())
            self._episode = None

    def get_metadata(self):
        told = self._link.wait(self._link.client.environment(self._environment))
        return EnvironmentMetadata(name=told.title, description=told.description, version=told.version)


def farm_app(environment, *, farm="", token_file="", library=(), sessions=64):
    """The server of one environment. `sessions` is the most episodes at the same time."""
    link = FarmLink(farm, token_file=token_file, library=tuple(library))
    return create_fastapi_app(
        lambda: FarmOpenEnv(link, environment), CallToolAction, CallToolObservation, max_concurrent_envs=sessions
    )


def main():
    """Serve one environment until Ctrl-C."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("environment")
    parser.add_argument("--farm", default="", help="a state folder or a URL; a farm of its own by default")
    parser.add_argument("--token-file", default="")
    parser.add_argument("--library", action="append", default=[])
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    given = parser.parse_args()
    app = farm_app(given.environment, farm=given.farm, token_file=given.token_file, library=given.library)
    with socket.create_server((given.host, given.port)) as listening:
        sys.stdout.write(f"OpenEnv server at http://{given.host}:{listening.getsockname()[1]}\n")
        sys.stdout.flush()
        uvicorn.Server(uvicorn.Config(app, log_level="warning")).run(sockets=[listening])


if __name__ == "__main__":
    main()
