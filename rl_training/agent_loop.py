"""The rollout worker of verl for a farm: each row is an instance, played over MCP and scored by the farm.

verl's agent loop file names this class (docs/how-to/training.md). verl makes one object for each episode.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Self
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import (  # pyright: ignore[reportMissingModuleSource]
    AgentLoopBase,
    AgentLoopOutput,
)
from verl.experimental.agent_loop.tool_parser import ToolParser  # pyright: ignore[reportMissingModuleSource]

from agent_client.play import Limits
from rl_training.config import Episodes
from rl_training.data.pass_rates import Key, note
from rl_training.data.rows import Task
from rl_training.episode.attempt import Attempt, attempt
from rl_training.episode.branches import Branches, Branching
from rl_training.episode.farm_connection import Farm, FarmConnection, link_to
from rl_training.episode.group_race import OverSampling, forget, race_of
from rl_training.episode.measures import ForkCounts
from rl_training.episode.progress import Progress
from rl_training.episode.rendering import ChatMessage, shared_renderings
from rl_training.episode.simulated_user import Partner, UserModel
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import Tokens
from rl_training.episode.tool_call_parser import Speech
from rl_training.errors import RolloutLost, RowError
from rl_training.verl.outputs import branch_output, episode_output, lost_output, with_dropped
from servers.errors import InfraError

ATTEMPTS = 2
LoopOutputs = AgentLoopOutput | list[AgentLoopOutput]
ForkSettings = Branches | Progress | None


class LoopSettings(Episodes):
    """The settings of the agent loop: those of episodes, and what a run adds to them.

    Args:
        farm_url, farm_token: the registry, and what opens it. All that a worker needs to know.
        user, user_key: the model that plays the user where a scenario has a persona, and its key (see UserModel).
            Without it the policy is told the task outright.
        branching: when an episode of the training data is forked (see Branching). Needs the estimator `farm_branches`.
        progress: whether states are judged between turns (see Progress). Needs the estimator `farm_progress`.
        over_sampling: how many episodes a group begins beyond those that it keeps. Rows say so too (`__rollout_n__`).
        pass_rates: a file to note in whether a scenario of the training data was passed, for a curriculum.
    """

    farm_url: str
    farm_token: str
    user: UserModel | None = None
    user_key: str = ""
    branching: Branching | None = None
    progress: bool = False
    over_sampling: OverSampling | None = None
    pass_rates: Path | None = None

    @classmethod
    def taken_from(cls, given: dict[str, Any]) -> Self:
        """The settings among what verl hands over by name, taken out of it. Its tables are not plain ones."""
        told = {name: given.pop(name) for name in cls.model_fields if name in given}
        tables: dict[str, Mapping[str, Any]] = {name: one for name, one in told.items() if isinstance(one, Mapping)}
        return cls.model_validate(told | {name: dict(one) for name, one in tables.items()})


class FarmAgentLoop(AgentLoopBase):
    """Plays one row. verl gives what it knows itself, and the settings of its agent loop file."""

    def __init__(self, *args: Any, tools: object = None, **given: Any) -> None:
        settings = LoopSettings.taken_from(given)
        super().__init__(*args, **given)
        self.settings = settings
        self.farm = Farm(settings.farm_url, settings.farm_token, settings.ttl_seconds, settings.perturb)
        self.limits = Limits(turns=settings.turns, seconds=settings.seconds)
        self.tool_format: str = self.rollout_config.multi_turn.format

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> LoopOutputs:
        """Play one row. If the farm fails, play it again on a second instance.

        With over-sampling an episode may be dropped, because enough others of its group ended sooner. It has no output.

        Raises:
            RowError: the row cannot be played.
            RolloutLost: the farm failed twice, and `on_infra_failure` is `raise`.
        """
        models: list[TokenModel] = []
        wanted = self.settings.over_sampling
        if wanted is None or not _trains(row) or "session_id" not in row:
            return await self._played(sampling_params, row, models)
        keep = int(self.rollout_config.n)
        race = race_of(row["uid"], keep=keep, begun=keep + wanted.extra)
        try:
            kept = await race.run(
                self._played(sampling_params, row, models), lambda: sum(one.tokens.said for one in models)
            )
        finally:
            forget(row["uid"])
        return [] if kept is None else with_dropped(kept)

    async def _played(
        self, sampling_params: dict[str, Any], row: dict[str, Any], models: list[TokenModel]
    ) -> LoopOutputs:
        """Play one row to its end. `models` gets the policy of each attempt."""
        task, prompt = Task.of_row(row), [dict(message) for message in row["raw_prompt"]]
        link = await link_to(self.farm)
        user = partial(self._partner, link, prompt, row)
        for number in range(1, ATTEMPTS + 1):
            model = self._model(prompt, sampling_params)
            models.append(model)
            forks = self._forks(link, model, row, user)
            try:
                async with forks or nullcontext():
                    done = await attempt(link, task, _goal(prompt), model, self.limits, user(), forks)
            except InfraError as error:
                if number == ATTEMPTS:
                    return await self._lost(error, prompt, row)
                await asyncio.sleep(self.settings.retry_seconds)
            else:
                self._note(task, row, done)
                return self._outputs(done, model, forks, row, attempts=number)
        raise AssertionError("unreachable")

    def _forks(
        self, link: FarmConnection, model: TokenModel, row: Mapping[str, Any], user: Callable[[], Partner | None]
    ) -> ForkSettings:
        if not _trains(row):
            return None
        if self.settings.branching is not None:
            return Branches(link, self.settings.branching, model, self.limits, user)
        return Progress(link, model) if self.settings.progress else None

    def _partner(self, link: FarmConnection, prompt: list[ChatMessage], row: Mapping[str, Any]) -> Partner | None:
        persona = row["extra_info"].get("persona")
        if self.settings.user is None or not persona:
            return None
        return Partner(link.user(self.settings.user, self.settings.user_key), persona=persona, task=_goal(prompt))

    def _note(self, task: Task, row: Mapping[str, Any], done: Attempt) -> None:
        if self.settings.pass_rates is not None and _trains(row):
            note(self.settings.pass_rates, Key(task.environment, task.scenario), passed=done.score.success is True)

    def _model(self, prompt: list[ChatMessage], sampling: Mapping[str, Any]) -> TokenModel:
        tokens = Tokens(
            shared_renderings(self.tokenizer, self.continuous_token_builder),
            prompt,
            longest_prompt=self.rollout_config.prompt_length,
            longest_response=self.rollout_config.response_length,
        )
        speech = Speech(ToolParser.get_tool_parser(self.tool_format, self.tokenizer), self.tokenizer, self.tool_format)
        return TokenModel(
            self.server_manager,
            tokens,
            speech,
            request_id=uuid4().hex,
            sampling=sampling,
            turn_tokens=self.settings.turn_tokens,
            longest_result=self.settings.longest_result,
        )

    def _outputs(
        self,
        done: Attempt,
        model: TokenModel,
        forks: ForkSettings,
        row: Mapping[str, Any],
        *,
        attempts: int,
    ) -> LoopOutputs:
        """The episode, and before it the branches that are learnt from: verl takes the last one as the result."""
        extra = row["extra_info"]
        main = episode_output(
            done,
            model,
            attempts=attempts,
            values={} if forks is None else forks.values,
            counts=ForkCounts.of(forks),
            level=extra.get("level"),
            environment=extra["environment"],
        )
        if not isinstance(forks, Branches) or "session_id" not in row:
            return main  # trainers before V1 take one
        learnt = forks.forks if forks.learn else []
        return [*(branch_output(fork, one, done) for fork in learnt for one in fork.branches), main]

    async def _lost(self, error: InfraError, prompt: list[ChatMessage], row: Mapping[str, Any]) -> LoopOutputs:
        """An episode without a result: nothing for the V1 trainer, elsewhere a row that trains nothing."""
        if self.settings.on_infra_failure == "raise":
            raise RolloutLost(f"lost after {ATTEMPTS} attempts: {error}") from error
        if "session_id" in row:
            return []
        tokens = self._model(prompt, {}).tokens
        try:
            await tokens.begin(_goal(prompt), [])
        except RowError:
            tokens.ids = []
        return lost_output(
            tokens.ids,
            self.tokenizer.eos_token_id or 0,
            attempts=ATTEMPTS,
            with_logprobs=self.rollout_config.calculate_log_probs,
        )


def _trains(row: Mapping[str, Any]) -> bool:
    """True for a row of the training data: what is held out is measured without forks."""
    return row["extra_info"].get("split") == "train"


def _goal(prompt: list[ChatMessage]) -> str:
    """The user's request: the last message of the prompt. In a conversation the policy never sees it."""
    return str(prompt[-1]["content"]) if prompt else ""
