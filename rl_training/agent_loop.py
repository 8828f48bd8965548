"""The rollout worker of verl for a farm: each row is an instance, played over MCP and scored by the farm.

verl's agent loop file names this class (docs/how-to/training.md). verl makes one object for each episode.
"""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any, Literal
from uuid import uuid4

from verl.experimental.agent_loop.agent_loop import (  # pyright: ignore[reportMissingModuleSource]
    AgentLoopBase,
    AgentLoopOutput,
)
from verl.experimental.agent_loop.tool_parser import ToolParser  # pyright: ignore[reportMissingModuleSource]

from agent_client.play import Limits
from rl_training.data.pass_rates import Key, note
from rl_training.data.rows import Task
from rl_training.episode.attempt import Attempt, attempt
from rl_training.episode.branches import Branches, Branching
from rl_training.episode.farm_connection import Farm, FarmConnection, link_to
from rl_training.episode.measures import ForkCounts
from rl_training.episode.progress import Progress
from rl_training.episode.rendering import ChatMessage, shared_renderings
from rl_training.episode.simulated_user import Partner, UserModel
from rl_training.episode.token_model import TokenModel
from rl_training.episode.tokens import Tokens
from rl_training.episode.tool_call_parser import Speech
from rl_training.errors import RolloutLost, RowError
from rl_training.verl.outputs import branch_output, episode_output, lost_output
from servers.errors import InfraError

ATTEMPTS = 2
ForkSettings = Branches | Progress | None
OnInfraFailure = Literal["raise", "mask"]


class FarmAgentLoop(AgentLoopBase):
    """Plays one row.

    Args:
        farm_url, farm_token: the registry, and what opens it. All that a worker needs to know.
        ttl_seconds: how long a lease lives without a heartbeat, so how long a crashed worker holds its instances.
        perturb: how the tools differ from those of the environments, in one line.
        turns, turn_tokens, seconds: where an episode ends; the tokens of all turns are bounded by response_length.
        longest_result: characters of a tool's result that the model reads; the middle of longer ones is left out.
        on_infra_failure: what becomes of an episode when the farm broke on a second instance too. `raise` lets verl's
            V1 trainer leave it out of its group; `mask` is for trainers where one raise would end the whole batch.
        retry_seconds: the pause before the second attempt, in which a farm may restart.
        user, user_key: the model that plays the user where a scenario has a persona, and its key (see UserModel).
            Without it the policy is told the task outright.
        branching: when an episode of the training data is forked (see Branching). Needs the estimator `farm_branches`.
        progress: whether states are judged between turns (see Progress). Needs the estimator `farm_progress`.
        pass_rates: a file to note in whether a scenario of the training data was passed, for a curriculum.
    """

    def __init__(
        self,
        *args: Any,
        farm_url: str,
        farm_token: str,
        ttl_seconds: int = 120,
        perturb: str = "",
        turns: int = 40,
        turn_tokens: int = 4096,
        seconds: float = 1800.0,
        longest_result: int = 20_000,
        on_infra_failure: OnInfraFailure = "raise",
        retry_seconds: float = 3.0,
        user: Mapping[str, Any] | None = None,
        user_key: str = "",
        branching: Mapping[str, Any] | None = None,
        progress: bool = False,
        pass_rates: str | None = None,
        tools: object = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.farm = Farm(farm_url, farm_token, ttl_seconds, perturb)
        self.limits = Limits(turns=turns, seconds=seconds)
        self.turn_tokens = turn_tokens
        self.longest_result = longest_result
        self.on_infra_failure: OnInfraFailure = on_infra_failure
        self.retry_seconds = retry_seconds
        self.user = None if user is None else UserModel.model_validate(dict(user))
        self.user_key = user_key
        self.branching = None if branching is None else Branching.model_validate(dict(branching))
        self.progress = progress
        self.pass_rates = None if pass_rates is None else Path(pass_rates)
        self.tool_format: str = self.rollout_config.multi_turn.format

    async def run(self, sampling_params: dict[str, Any], **row: Any) -> AgentLoopOutput | list[AgentLoopOutput]:
        """Play one row. If the farm fails, play it again on a second instance.

        Raises:
            RowError: the row cannot be played.
            RolloutLost: the farm failed twice, and `on_infra_failure` is `raise`.
        """
        task, prompt = Task.of_row(row), [dict(message) for message in row["raw_prompt"]]
        link = await link_to(self.farm)
        user = partial(self._partner, link, prompt, row)
        for number in range(1, ATTEMPTS + 1):
            model = self._model(prompt, sampling_params)
            forks = self._forks(link, model, row, user)
            try:
                async with forks or nullcontext():
                    done = await attempt(link, task, _goal(prompt), model, self.limits, user(), forks)
            except InfraError as error:
                if number == ATTEMPTS:
                    return await self._lost(error, prompt, row)
                await asyncio.sleep(self.retry_seconds)
            else:
                self._note(task, row, done)
                return self._outputs(done, model, forks, row, attempts=number)
        raise AssertionError("unreachable")

    def _forks(
        self, link: FarmConnection, model: TokenModel, row: Mapping[str, Any], user: Callable[[], Partner | None]
    ) -> ForkSettings:
        if not _trains(row):
            return None
        if self.branching is not None:
            return Branches(link, self.branching, model, self.limits, user)
        return Progress(link, model) if self.progress else None

    def _partner(self, link: FarmConnection, prompt: list[ChatMessage], row: Mapping[str, Any]) -> Partner | None:
        persona = row["extra_info"].get("persona")
        if self.user is None or not persona:
            return None
        return Partner(link.user(self.user, self.user_key), persona=persona, task=_goal(prompt))

    def _note(self, task: Task, row: Mapping[str, Any], done: Attempt) -> None:
        if self.pass_rates is not None and _trains(row):
            note(self.pass_rates, Key(task.environment, task.scenario), passed=done.score.success is True)

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
            turn_tokens=self.turn_tokens,
            longest_result=self.longest_result,
        )

    def _outputs(
        self,
        done: Attempt,
        model: TokenModel,
        forks: ForkSettings,
        row: Mapping[str, Any],
        *,
        attempts: int,
    ) -> AgentLoopOutput | list[AgentLoopOutput]:
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

    async def _lost(
        self, error: InfraError, prompt: list[ChatMessage], row: Mapping[str, Any]
    ) -> AgentLoopOutput | list[AgentLoopOutput]:
        """An episode without a result: nothing for the V1 trainer, elsewhere a row that trains nothing."""
        if self.on_infra_failure == "raise":
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
