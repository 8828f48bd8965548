"""The tokens of one episode, exactly as the model saw and generated them.

Nothing is tokenised twice: generated text is kept as its token ids, and only later messages are rendered. Generated
tokens have mask 1 and a log probability. All others have mask 0 and log probability 0.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

from rl_training.episode.rendering import ChatMessage, Rendering, Renderings
from rl_training.errors import RowError

MARK = 2
"""The tokens that the value of a state takes among the rewards."""


class Tokens:
    """The tokens of a growing episode. `ids` begins with the prompt."""

    def __init__(
        self, renderings: Renderings, prompt: list[ChatMessage], *, longest_prompt: int, longest_response: int
    ) -> None:
        self._renderings = renderings
        self._rendering = Rendering(renderings.builder, [])
        self._longest_prompt = longest_prompt
        self._longest_response = longest_response
        self._messages = prompt
        self.ids: list[int] = []
        self.mask: list[int] = []
        self.logprobs: list[float] | None = None

    def fork(self) -> "Tokens":
        """The same tokens, for an episode that goes on from here by itself."""
        forked = copy(self)
        forked.ids, forked.mask = list(self.ids), list(self.mask)
        forked.logprobs = None if self.logprobs is None else list(self.logprobs)
        return forked

    def keep_only_from(self, at: int) -> None:
        """Make all of the response before a place the model's past: it is not learnt from here."""
        self.mask = [0] * at + self.mask[at:]
        self.logprobs = self.logprobs and [0.0] * at + self.logprobs[at:]

    @property
    def room(self) -> int:
        """The number of tokens that still fit."""
        return self._longest_response - len(self.mask)

    @property
    def prompt_ids(self) -> list[int]:
        return self.ids[: len(self.ids) - len(self.mask)]

    @property
    def response_ids(self) -> list[int]:
        return self.ids[len(self.prompt_ids) :]

    async def begin(self, opening: str, tools: list[dict[str, Any]]) -> None:
        """Render the prompt with the tools. It ends with the user's first message.

        Raises:
            RowError: it is longer than the model is trained with. Cutting it would change the task.
        """
        self._rendering = self._renderings.of(tools)
        self._messages = [*self._messages[:-1], {"role": "user", "content": opening}]
        ids = await self._rendering.prompt(self._messages)
        if len(ids) > self._longest_prompt:
            raise RowError(
                f"a prompt of {len(ids)} tokens (tools among them) is longer than data.max_prompt_length="
                f"{self._longest_prompt}; raise it, or prepare the data with --max-prompt-tokens {self._longest_prompt}"
            )
        self.ids = ids

    def add_said(self, text: str, token_ids: Sequence[int], logprobs: Sequence[float] | None) -> None:
        """Add a generated turn. `text` represents it in the messages."""
        if not self.mask and logprobs is not None:
            self.logprobs = []
        builder = self._renderings.builder
        merged = builder.merge_assistant_tokens(self.ids, list(token_ids))
        self.mask, self.logprobs = builder.align_response_metadata(
            merged,
            self.mask,
            self.logprobs,
            assistant_logprobs=None if logprobs is None else list(logprobs),
        )
        self.ids = merged.token_ids
        self._messages = [*self._messages, {"role": "assistant", "content": text}]

    async def add_told(self, messages: list[ChatMessage]) -> bool:
        """Add messages to the model. False, with nothing added, if they leave no room for a reply."""
        updated = [*self._messages, *messages]
        merged = await self._rendering.told(self._messages, updated, self.ids)
        mask, logprobs = self._renderings.builder.align_response_metadata(merged, self.mask, self.logprobs)
        if len(mask) >= self._longest_response:
            return False
        self.ids, self.mask, self.logprobs = merged.token_ids, mask, logprobs
        self._messages = updated
        return True

    @property
    def said(self) -> int:
        """The number of tokens that the model generated."""
        return sum(self.mask)

    @property
    def unanswered(self) -> int:
        """The number of tokens at the end that the model has not answered."""
        return next((at for at, said in enumerate(reversed(self.mask)) if said), len(self.mask))

    def drop_unanswered(self) -> None:
        """Remove messages that the model has not answered: an episode ends with its own turn."""
        unanswered = self.unanswered
        if unanswered:
            self.ids, self.mask = self.ids[:-unanswered], self.mask[:-unanswered]
            self.logprobs = self.logprobs and self.logprobs[:-unanswered]


def token_rewards(mask: Sequence[int], earned: float, values: Mapping[int, float]) -> list[float]:
    """The reward of each token, with the values of states that are known before the turns that begin at some places.

    A trainer hands an advantage estimator nothing but rewards, masks and groups. So a value stands among the rewards,
    where the model reads the state: 1 + value on the first token between two turns, and the same taken away on the
    second. The model said neither, so no trainer learns from them, and the sum of all rewards is what was earned. That
    stands on the last token, as verl has it. A value whose turn was never said is left out.
    """
    rewards = [0.0] * len(mask)
    rewards[-1] += earned
    for at, value in values.items():
        if at >= len(mask):
            continue
        first = at
        while first > 0 and not mask[first - 1]:
            first -= 1
        rewards[first] += 1 + value
        rewards[first + 1] -= 1 + value
    return rewards
