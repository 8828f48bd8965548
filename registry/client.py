"""The client of a farm: the registry's API, with its errors as exceptions.

It holds the control token. So it is for trainers, evaluations and commands, never for agents.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx2
from pydantic import BaseModel, ValidationError

from agent_client.connections import Connections
from agent_client.toolbox import Place, Toolbox, connect, connect_both
from registry.messages import (
    LARGEST_ANSWER,
    Diff,
    DrainRequest,
    EnvironmentDetail,
    EnvironmentPart,
    Error,
    ErrorKind,
    ForkRequest,
    Health,
    HistoryPart,
    Launched,
    LaunchRequest,
    Lease,
    LeasePart,
    LeaseStatus,
    MarkedTurn,
    MoveRequest,
    Part,
    QueryRequest,
    RewindRequest,
    ScenarioDetail,
    ScenarioPart,
    Score,
    ScoreRequest,
    SecondInstance,
    TablePart,
    Tables,
    Workers,
)
from servers.errors import BundleError, CapacityError, Conflict, FarmError, InfraError, NotFound, RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.limits.processor_budget import LONGEST_JUDGEMENT
from servers.messages import QueryRows
from servers.records import checked_secret, checked_url
from servers.scenario.two_environments import routes
from servers.validation import first_problem, problems

TOKEN_FILE = "token"  # noqa: S105 - its name, not its content
URL_FILE = "url"
LARGEST_KEPT = 64 * 1024
SECONDS = 120.0
UNAUTHORIZED = 401
SCORE_SECONDS = LONGEST_JUDGEMENT + 2 * SECONDS
"""Seconds to wait for a score: longer than the registry waits for a worker that judges."""
AT_ONCE = 32
"""The most concurrent requests. Further ones wait."""
MOST_SAID = LARGEST_ANSWER // 2
"""The most characters of an answer that are judged. As JSON, that many always fit into a body."""
ERRORS: dict[ErrorKind, type[FarmError]] = {
    "not_found": NotFound,
    "conflict": Conflict,
    "bundle": BundleError,
    "capacity": CapacityError,
    "infra": InfraError,
}

Answer = TypeVar("Answer", bound=BaseModel)
T = TypeVar("T")


@dataclass(frozen=True)
class Address:
    """The URL of a farm, and its control token."""

    url: str
    token: str
    missing_walls: tuple[str, ...] = ()
    cluster: str = ""
    """The address of the Ray cluster that its workers are on, if any."""


def address_of(state: Path, token: str | None = None) -> Address:
    """The URL and control token of a state folder's farm. A given token wins over the stored one.

    Raises:
        NotFound: no farm was ever started on this folder, or it stores no token.
    """
    try:
        url = _kept(state / URL_FILE)
    except (FileNotFoundError, NotADirectoryError):
        if state.is_file():
            raise NotFound(f"{state} is a file; the state of a farm is a folder") from None
        raise NotFound(f"no farm was started on {state}; `farm up --state {state}` starts one") from None
    if not url.startswith(("http://", "https://")):
        raise NotFound(f"{state / URL_FILE} holds no address of a farm; `farm up --state {state}` writes it anew")
    try:
        return Address(url, token or _kept(state / TOKEN_FILE))
    except FileNotFoundError:
        raise NotFound(
            f"the farm of {state} was given its token; give it here too, with FARM_TOKEN or --token-file"
        ) from None


def _kept(path: Path) -> str:
    """What a small file of a state folder says.

    Raises:
        FileNotFoundError, NotADirectoryError: there is none.
        NotFound: it cannot be read.
    """
    try:
        return text_named(path, largest=LARGEST_KEPT).strip()
    except (FileNotFoundError, NotADirectoryError):
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise NotFound(f"{path}: cannot be read: {trouble(error)}") from None


class WrongToken(RequestError):
    """The farm refuses this control token."""


class FarmClient:
    """A connection to a registry. Enter it with `async with`.

    Every method raises the registry's error as an exception of `servers.errors`, and InfraError if no farm answers.
    RequestError for what is no URL, or no token.
    """

    def __init__(self, url: str, token: str, *, seconds: float = SECONDS) -> None:
        try:
            self.url = checked_url(url).rstrip("/").removesuffix("/v1")
            checked_secret("the control token", token)
        except ValueError as error:
            raise RequestError(f"a farm cannot be asked: {error}") from None
        self._seconds = seconds
        self._http = httpx2.AsyncClient(
            base_url=f"{self.url}/v1",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            transport=Connections(AT_ONCE),
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def health(self) -> Health:
        return await self._get("/health", Health)

    async def has_pages(self) -> bool:
        """True if the farm serves pages for a browser."""
        try:
            return (await self._http.get(f"{self.url}/login")).headers.get("content-type", "").startswith("text/html")
        except httpx2.HTTPError:
            return False

    async def workers(self) -> Workers:
        return await self._get("/workers", Workers)

    async def drain(self, worker: str, *, drains: bool = True) -> None:
        """Launch nothing more on a worker, or launch on it again. Raises NotFound."""
        await self._ask("POST", _path("workers", worker, "drain"), order=_order(DrainRequest, drains=drains))

    async def environments(self, *, search: str = "", offset: int = 0, limit: int = 100) -> EnvironmentPart:
        return await self._get("/environments", EnvironmentPart, search=search, offset=offset, limit=limit)

    async def environment(self, environment: str) -> EnvironmentDetail:
        return await self._get(_path("environments", environment), EnvironmentDetail)

    async def scenarios(
        self, environment: str, *, tag: str | None = None, search: str = "", offset: int = 0, limit: int = 100
    ) -> ScenarioPart:
        path = _path("environments", environment, "scenarios")
        return await self._get(path, ScenarioPart, tag=tag, search=search, offset=offset, limit=limit)

    async def scenario(self, environment: str, scenario: str) -> ScenarioDetail:
        return await self._get(_path("environments", environment, "scenarios", scenario), ScenarioDetail)

    async def launch(
        self,
        environment: str,
        scenario: str | None = None,
        *,
        count: int = 1,
        ttl_seconds: int = 3600,
        seed: int = 0,
        perturb: str = "",
        pairs: bool = False,
        key: str | None = None,
    ) -> list[Lease]:
        """Launch and lease `count` new instances, all or none.

        A lease ends after `ttl_seconds` without a heartbeat. The same `seed` and calls give the same rows. `perturb`
        says in a line how the tools differ from the environment's. With `pairs` the caller takes the `second` instance
        that a scenario over two environments has: both are launched, or neither. With a `key`, which the caller makes
        up, a launch can be asked for again without harm: the same leases come back. Raises NotFound, BundleError or
        CapacityError, and Conflict for the key of another launch, or for two environments without `pairs`.
        """
        order = _order(
            LaunchRequest,
            environment=environment,
            scenario=scenario,
            count=count,
            ttl_seconds=ttl_seconds,
            seed=seed,
            perturb=perturb,
            pairs=pairs,
            key=key,
        )
        return list((await self._post("/instances", order, Launched)).items)

    @asynccontextmanager
    async def leased(
        self,
        environment: str,
        scenario: str | None = None,
        *,
        seed: int = 0,
        ttl_seconds: int = 3600,
        perturb: str = "",
        http_client: httpx2.AsyncClient | None = None,
    ) -> AsyncGenerator["LeasedInstance"]:
        """Lease one instance, and close it on exit, also on cancellation.

        Agents reach it through `http_client`, which many instances may share. If closing fails, its lease ends it. A
        scenario over two environments has a second instance: `connect` opens both.
        """
        launching = self.launch(environment, scenario, ttl_seconds=ttl_seconds, seed=seed, perturb=perturb, pairs=True)
        [lease] = await _kept_through_cancellation(launching, self._close_all)
        try:
            yield LeasedInstance(self, lease.instance, *lease.address(), http_client, environment, lease.second)
        finally:
            await _done_though_cancelled(self._close_all([lease]))

    async def _close_all(self, leases: list[Lease]) -> None:
        for lease in leases:
            with suppress(FarmError):
                await self.close(lease.instance)

    async def leases(
        self,
        *,
        status: LeaseStatus | None = None,
        environment: str | None = None,
        offset: int = 0,
        limit: int = 100,
    ) -> LeasePart:
        return await self._get(
            "/instances", LeasePart, status=status, environment=environment, offset=offset, limit=limit
        )

    async def lease(self, instance: str) -> Lease:
        return await self._get(_path("instances", instance), Lease)

    async def heartbeat(self, instance: str) -> Lease:
        """Extend a lease: its `ttl_seconds` start again."""
        return await self._post(_path("instances", instance, "heartbeat"), None, Lease)

    async def reset(self, instance: str) -> None:
        await self._ask("POST", _path("instances", instance, "reset"))

    async def close(self, instance: str) -> None:
        """End a lease and delete its instance. Raises NotFound, and Conflict if it has ended."""
        await self._ask("DELETE", _path("instances", instance))

    async def state(self, instance: str) -> Tables:
        return await self._get(_path("instances", instance, "state"), Tables)

    async def table(self, instance: str, table: str, *, offset: int = 0, limit: int = 100) -> TablePart:
        return await self._get(_path("instances", instance, "state", table), TablePart, offset=offset, limit=limit)

    async def diff(self, instance: str) -> Diff:
        return await self._get(_path("instances", instance, "diff"), Diff)

    async def history(self, instance: str, *, offset: int = 0, limit: int = 100) -> HistoryPart:
        return await self._get(_path("instances", instance, "history"), HistoryPart, offset=offset, limit=limit)

    async def query(self, instance: str, sql: str, *, limit: int = 1000) -> QueryRows:
        return await self._post(
            _path("instances", instance, "query"), _order(QueryRequest, sql=sql, limit=limit), QueryRows
        )

    async def snapshot(self, instance: str) -> bytes:
        """The current state as the bytes of a SQLite file."""
        return (await self._ask("GET", _path("instances", instance, "snapshot"))).content

    async def rewind(self, instance: str, call: int) -> None:
        await self._ask("POST", _path("instances", instance, "rewind"), order=_order(RewindRequest, call=call))

    async def mark_turn(self, instance: str) -> int:
        """Mark that the user begins a turn of a benchmark's task. Returns its number, from 0."""
        return (await self._post(_path("instances", instance, "turn"), None, MarkedTurn)).turn

    async def fork(self, instance: str, count: int = 1, *, worker: str | None = None) -> list[Lease]:
        """New instances with the state of one. They are on its worker unless that has no room, or on `worker`."""
        order = _order(ForkRequest, count=count, worker=worker)
        return list((await self._post(_path("instances", instance, "fork"), order, Launched)).items)

    async def move(self, instance: str, *, worker: str | None = None) -> Lease:
        """Move an instance to another worker, by default the one with most room. Its lease has a new URL and token."""
        return await self._post(_path("instances", instance, "move"), _order(MoveRequest, worker=worker), Lease)

    async def score(self, instance: str, answer: str = "", *, close: bool = False) -> Score:
        """Judge an instance. With `close`, also close it, unless the farm could not judge.

        An agent may say anything: characters that are not valid text are replaced, and a long answer is cut.
        """
        answer = answer[:MOST_SAID].encode("utf-8", "replace").decode()
        order = _order(ScoreRequest, answer=answer, close=close)
        seconds = max(self._seconds, SCORE_SECONDS)
        response = await self._ask("POST", _path("instances", instance, "score"), order=order, seconds=seconds)
        return self._read(response, Score)

    async def _get(self, path: str, kind: type[Answer], **params: str | int | None) -> Answer:
        wanted = {name: value for name, value in params.items() if value is not None}
        return self._read(await self._ask("GET", path, params=wanted), kind)

    async def _post(self, path: str, order: BaseModel | None, kind: type[Answer]) -> Answer:
        return self._read(await self._ask("POST", path, order=order), kind)

    def _read(self, response: httpx2.Response, kind: type[Answer]) -> Answer:
        try:
            return kind.model_validate_json(response.content)
        except ValidationError as error:
            raise InfraError(f"what answers at {self.url} is no farm of this version: {first_problem(error)}") from None

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        order: BaseModel | None = None,
        params: Mapping[str, str | int] | None = None,
        seconds: float | None = None,
    ) -> httpx2.Response:
        body: dict[str, Any] = {}
        if order is not None:
            body = {"content": order.model_dump_json(), "headers": {"Content-Type": "application/json"}}
        try:
            timeout = self._seconds if seconds is None else seconds
            response = await self._http.request(method, path, params=params, timeout=timeout, **body)
        except httpx2.ConnectError:
            raise InfraError(f"no farm answers at {self.url}; start one with `farm up`") from None
        except httpx2.HTTPError as error:
            raise InfraError(f"the farm at {self.url} broke off: {str(error) or type(error).__name__}") from None
        if not response.is_success:
            raise self._error_of(response)
        return response

    def _error_of(self, response: httpx2.Response) -> FarmError:
        try:
            problem = Error.model_validate_json(response.content).error
        except ValidationError:
            return InfraError(f"what answers at {self.url} is no farm: HTTP {response.status_code}")
        if response.status_code == UNAUTHORIZED:
            return WrongToken(f"the farm at {self.url} refuses the control token")
        return ERRORS.get(problem.kind, RequestError)(problem.message)


@dataclass
class LeasedInstance:
    """A live instance: its id, and the URL and token with which an agent reaches it.

    With a `second` one, these are of the first, and the agent has two servers.
    """

    farm: FarmClient
    id: str
    url: str
    token: str
    http_client: httpx2.AsyncClient | None = None
    environment: str = ""
    second: SecondInstance | None = None

    def connect(self) -> AbstractAsyncContextManager[Toolbox]:
        """Connect to it as an agent does: to both servers, if there are two. Raises FarmUnreachable."""
        if self.second is None:
            return connect(self.url, self.token, http_client=self.http_client)
        places = (
            Place(self.environment, self.url, self.token),
            Place(self.second.environment, *self.second.address()),
        )
        return connect_both(places, routes, http_client=self.http_client)

    async def mark_turn(self) -> int:
        """Mark that the user begins a turn."""
        return await self.farm.mark_turn(self.id)

    async def score(self, answer: str = "") -> Score:
        """Judge it by the checkpoints of its scenario. `answer` is the agent's last words."""
        return await self.farm.score(self.id, answer)


async def _kept_through_cancellation(work: Coroutine[Any, Any, T], undo: Callable[[T], Awaitable[None]]) -> T:
    """Finish `work` even if the caller is cancelled meanwhile. In that case undo it."""
    working = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        with suppress(FarmError):
            await undo(await working)
        raise


async def _done_though_cancelled(work: Coroutine[Any, Any, None]) -> None:
    """Finish `work` even if the caller is cancelled meanwhile."""
    working = asyncio.ensure_future(work)
    try:
        await asyncio.shield(working)
    except asyncio.CancelledError:
        await working
        raise


def _path(*parts: str) -> str:
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def _order(kind: type[Answer], **fields: Any) -> Answer:
    """Build a request body. An invalid value is the caller's error, as if the registry had refused it."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise RequestError("; ".join(problems(error))) from None


async def every_item(part_from: Callable[[int], Awaitable[Part[T]]]) -> list[T]:
    """All items of a paged list. `part_from(offset)` fetches one page."""
    found: list[T] = []
    while True:
        part = await part_from(len(found))
        found += part.items
        if not part.items or len(found) >= part.total:
            return found
