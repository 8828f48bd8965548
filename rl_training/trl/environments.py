"""A farm's environments for TRL's GRPOTrainer: a factory for each, rows that name scenarios, and the reward.

TRL plays: it generates, parses calls and keeps the tokens. This module leases an instance for each episode, makes its
calls and scores it. TRL blocks on each call, so calls run on an event loop in another thread. TRL is not imported.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, Self, TypeVar

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import Toolbox
from agent_client.trace import ToolSpec
from agent_client.wire import shared_http
from registry.client import FarmClient, LeasedInstance
from rl_training.data.rows import rows, scenarios_of
from rl_training.errors import RowError
from rl_training.trl.signature import as_function
from servers.errors import FarmError

CONNECTIONS = 64
Got = TypeVar("Got")


class EpisodeSlot:
    """Plays the episodes of an environment one after another, each on an instance of its own."""

    def __init__(self, farm: "TrlEnvironments", environment: str) -> None:
        self.farm = farm
        self._environment = environment
        self._live: LeasedInstance | None = None
        self._toolbox: Toolbox | None = None
        self._stack = AsyncExitStack()
        self._broke = False

    async def begin(self, scenario: str, seed: int) -> None:
        """Lease an instance at a scenario. The previous episode's instance is given back."""
        await self.end()
        leasing = self.farm.registry.leased(
            self._environment, scenario, seed=seed, ttl_seconds=self.farm.ttl_seconds, http_client=self.farm.http
        )
        self._live = await self._stack.enter_async_context(leasing)
        self._toolbox = await self._stack.enter_async_context(self._live.connect())

    async def end(self) -> None:
        """Give the instance back."""
        self._live, self._toolbox, self._broke = None, None, False
        await self._stack.aclose()

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Make a call. TRL shows the model an exception's text and continues. `score` decides whose error it was."""
        if self._toolbox is None:
            raise RowError(f"{tool} was called before an episode began: a row names an environment and a scenario")
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return (await self._toolbox.call(tool, given)).text
        except FarmUnreachable:
            self._broke = True
            raise

    async def score(self, answer: str) -> float | None:
        """The reward of the episode. None if the farm failed: TRL leaves such an episode out."""
        if self._live is None or self._broke:
            return None
        try:
            return (await self._live.score(answer)).reward
        except FarmError:
            return None


class TrlEnvironment:
    """An environment for TRL. Every public function except `reset` is a tool to it."""

    def __init__(self, place: EpisodeSlot) -> None:
        self.place = place

    def reset(self, scenario: str, seed: int = 0, **_: Any) -> None:
        """Begin an episode at the scenario of a row."""
        self.place.farm.wait(self.place.begin(scenario, seed))


class TrlEnvironments:
    """Entered with `with`; on leaving, the instances of the last episodes are given back.

    Args:
        url, token: the registry, and what opens it.
        ttl_seconds: how long an instance may be held: an episode, and the trainer's step after it.
    """

    def __init__(self, url: str, token: str, *, ttl_seconds: int = 3600) -> None:
        self.registry = FarmClient(url, token)
        self.http = shared_http(CONNECTIONS)
        self.ttl_seconds = ttl_seconds
        self._places: list[EpisodeSlot] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="farm", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def wait(self, work: Coroutine[Any, Any, Got]) -> Got:
        """Run work on the farm's event loop, and wait for it."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def factories(self, environments: Sequence[str]) -> dict[str, Callable[[], TrlEnvironment]]:
        """TRL's `environment_factory`, by environment: a row's `environment` selects one.

        Raises:
            RequestError: a tool cannot be a Python function.
        """
        return {environment: self._factory(environment) for environment in environments}

    def rows(self, environments: Sequence[str], *, instructions: bool = True) -> list[dict[str, Any]]:
        """Rows for a data set: prompt, environment and scenario."""
        made = self.wait(self._rows(environments, instructions))
        return [
            {
                "prompt": row["prompt"],
                "environment": row["extra_info"]["environment"],
                "scenario": row["extra_info"]["scenario"],
                "seed": row["extra_info"]["seed"],
            }
            for row in made
        ]

    def reward(
        self, completions: Sequence[Sequence[Mapping[str, Any]]], environments: Sequence[TrlEnvironment], **_: Any
    ) -> list[float | None]:
        """A reward function for TRL. The last message is the answer."""
        return self.wait(self._scores([_answer(one) for one in completions], environments))

    async def _rows(self, environments: Sequence[str], instructions: bool) -> list[dict[str, Any]]:
        details = await scenarios_of(self.registry, environments)
        return await rows(self.registry, details, split="train", instructions=instructions)

    async def _scores(self, answers: Sequence[str], environments: Sequence[TrlEnvironment]) -> list[float | None]:
        scores = (one.place.score(answer) for one, answer in zip(environments, answers, strict=True))
        return list(await asyncio.gather(*scores))

    def _factory(self, environment: str) -> Callable[[], TrlEnvironment]:
        told = self.wait(self.registry.environment(environment))
        specs = [ToolSpec(name=one.name, description=one.description, arguments=one.arguments) for one in told.tools]
        methods = {spec.name: as_function(spec, _caller(spec.name)) for spec in specs}
        kind = type("TrlEnvironment", (TrlEnvironment,), dict(methods))

        def make() -> TrlEnvironment:
            place = EpisodeSlot(self, environment)
            self._places.append(place)
            return kind(place)

        return make

    async def _close(self) -> None:
        await asyncio.gather(*(one.end() for one in self._places))
        await self.registry.__aexit__()
        await self.http.aclose()


def _caller(tool: str) -> Callable[[TrlEnvironment, dict[str, Any]], str]:
    return lambda environment, arguments: environment.place.farm.wait(environment.place.call(tool, arguments))


def _answer(completion: Sequence[Mapping[str, Any]]) -> str:
    """The model's last message, if it ended with text."""
    if not completion or completion[-1].get("role") != "assistant" or completion[-1].get("tool_calls"):
        return ""
    return str(completion[-1].get("content") or "")
