"""One episode that another framework plays: an instance, its calls, its score. The framework says when each happens."""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import Toolbox
from agent_client.trace import ToolResult
from evals.frameworks.farm_link import FarmLink
from registry.client import LeasedInstance
from registry.messages import Score
from servers.errors import FarmError, InfraError, RequestError

TTL_SECONDS = 6 * 3600


class LeasedEpisode:
    """An instance of a scenario, from `begin` to `end`. Its methods run on the loop of the farm's link.

    A farm that failed a call has spoiled the episode: `score` raises InfraError then, and there is no reward.
    """

    def __init__(
        self, link: FarmLink, environment: str, scenario: str, *, seed: int = 0, ttl_seconds: int = TTL_SECONDS
    ) -> None:
        self.environment = environment
        self.scenario = scenario
        self.seed = seed
        self._ttl = ttl_seconds
        self._link = link
        self._stack = AsyncExitStack()
        self._broke = ""
        self.live: LeasedInstance | None = None
        self.toolbox: Toolbox | None = None
        self.task = ""

    async def begin(self) -> None:
        """Lease and connect. Raises FarmError, and RequestError for a scenario over two environments."""
        client = self._link.client
        detail = await client.scenario(self.environment, self.scenario)
        if detail.scenario.second is not None:
            raise RequestError(
                f"{self.environment}/{self.scenario} is over two environments, and other frameworks play one; "
                "`farm play` and `farm eval` play it"
            )
        self.task = detail.told
        leasing = client.leased(
            self.environment, self.scenario, seed=self.seed, ttl_seconds=self._ttl, http_client=self._link.http
        )
        try:
            self.live = await self._stack.enter_async_context(leasing)
            self.toolbox = await self._stack.enter_async_context(self.live.connect())
        except FarmUnreachable as error:
            await self.end()
            raise InfraError(str(error)) from None
        except BaseException:
            await self.end()
            raise

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """Make a call. A refusal is a result. Raises InfraError if the farm failed."""
        if self.toolbox is None:
            raise InfraError(f"{tool} was called in an episode that has not begun, or is over")
        try:
            return await self.toolbox.call(tool, arguments)
        except FarmUnreachable as error:
            self._broke = str(error)
            raise InfraError(self._broke) from None

    async def score(self, answer: str) -> Score:
        """Judge the state and the last words. Raises InfraError if there is no reward, by the farm's doing."""
        if self.live is None:
            raise InfraError("the episode has not begun, or is over")
        if self._broke:
            raise InfraError(self._broke)
        score = await self.live.score(answer)
        if score.outcome != "scored":
            raise InfraError(score.error or "the farm could not judge")
        return score

    async def end(self) -> None:
        """Give the instance back. A second time does nothing."""
        self.live = self.toolbox = None
        try:
            await self._stack.aclose()
        except FarmError:
            return


def verdict_lines(score: Score) -> str:
    """What each checkpoint says, one a line, for people."""
    return "\n".join(
        f"{'holds' if one.holds else 'does not hold'}: {one.question}{f' ({one.error})' if one.error else ''}"
        for one in score.verdicts
    )
