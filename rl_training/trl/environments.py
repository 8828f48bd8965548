"""A farm's environments for TRL's GRPOTrainer: a factory for each, rows that name scenarios, and the reward.

TRL plays: it generates, parses calls and keeps the tokens. This module leases an instance for each episode, makes its
calls and scores it. TRL blocks on each call, so calls run on an event loop in another thread. TRL is not imported.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Self, TypeVar

from agent_client.trace import ToolSpec
from evals.frameworks.farm_link import FarmLink
from evals.frameworks.leased_episode import LeasedEpisode
from registry.client import Address
from rl_training.data.rows import rows, scenarios_of
from rl_training.errors import RowError
from rl_training.trl.signature import as_function
from servers.errors import FarmError

Got = TypeVar("Got")


class EpisodeSlot:
    """Plays the episodes of an environment one after another, each on an instance of its own."""

    def __init__(self, farm: "TrlEnvironments", environment: str) -> None:
        self.farm = farm
        self._environment = environment
        self._episode: LeasedEpisode | None = None

    async def begin(self, scenario: str, seed: int) -> None:
        """Lease an instance at a scenario. The previous episode's instance is given back."""
        await self.end()
        link, ttl = self.farm.link, self.farm.ttl_seconds
        episode = LeasedEpisode(link, self._environment, scenario, seed=seed, ttl_seconds=ttl)
        await episode.begin()
        self._episode = episode

    async def end(self) -> None:
        """Give the instance back."""
        if self._episode is not None:
            await self._episode.end()
        self._episode = None

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """Make a call. TRL shows the model an exception's text and continues. `score` decides whose error it was."""
        if self._episode is None:
            raise RowError(f"{tool} was called before an episode began: a row names an environment and a scenario")
        given = {name: value for name, value in arguments.items() if value is not None}
        return (await self._episode.call(tool, given)).text

    async def score(self, answer: str) -> float | None:
        """The reward of the episode. None if the farm failed: TRL leaves such an episode out."""
        if self._episode is None:
            return None
        try:
            return (await self._episode.score(answer)).reward
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
    """A farm's environments for TRL. Use it in a `with`: on leaving, the instances of the last episodes are given back.

    Args:
        url, token: the registry, and what opens it.
        ttl_seconds: how long an instance may be held: an episode, and the trainer's step after it.
    """

    def __init__(self, url: str, token: str, *, ttl_seconds: int = 3600) -> None:
        self.link = FarmLink(Address(url, token))
        self.ttl_seconds = ttl_seconds
        self._places: list[EpisodeSlot] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.wait(self._end_all())
        self.link.close()

    def wait(self, work: Coroutine[Any, Any, Got]) -> Got:
        """Do some work on the farm's event loop, and block until it is done."""
        return self.link.wait(work)

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
        details = [one for one in await scenarios_of(self.link.client, environments) if one.scenario.second is None]
        return await rows(self.link.client, details, split="train", instructions=instructions)

    async def _scores(self, answers: Sequence[str], environments: Sequence[TrlEnvironment]) -> list[float | None]:
        scores = (one.place.score(answer) for one, answer in zip(environments, answers, strict=True))
        return list(await asyncio.gather(*scores))

    def _factory(self, environment: str) -> Callable[[], TrlEnvironment]:
        told = self.wait(self.link.client.environment(environment))
        specs = [ToolSpec(name=one.name, description=one.description, arguments=one.arguments) for one in told.tools]
        methods = {spec.name: as_function(spec, _caller(spec.name)) for spec in specs}
        kind = type("TrlEnvironment", (TrlEnvironment,), dict(methods))

        def make() -> TrlEnvironment:
            place = EpisodeSlot(self, environment)
            self._places.append(place)
            return kind(place)

        return make

    async def _end_all(self) -> None:
        await asyncio.gather(*(one.end() for one in self._places))


def _caller(tool: str) -> Callable[[TrlEnvironment, dict[str, Any]], str]:
    return lambda environment, arguments: environment.place.farm.wait(environment.place.call(tool, arguments))


def _answer(completion: Sequence[Mapping[str, Any]]) -> str:
    """The model's last message, if it ended with text."""
    if not completion or completion[-1].get("role") != "assistant" or completion[-1].get("tool_calls"):
        return ""
    return str(completion[-1].get("content") or "")
