"""A worker in another process or on another machine, reached over HTTP through its control door."""

import asyncio
from contextlib import suppress
from http import HTTPStatus
from pathlib import Path

import httpx
from pydantic import ValidationError

from servers import errors
from servers.doors.operations import ARRIVE, CALL, JUDGE, LAUNCH, AnswerT, Operation, OrderT
from servers.errors import CapacityError, FarmError, InfraError
from servers.guest.sqlite.image import Image
from servers.joining.bounded_answer import AnswerRoom, AnswerTooLarge, OneAnswer, bounded_answer, spooled_answer
from servers.joining.messages import HERE, LARGEST_MESSAGE, ErrorAnswer, HereAnswer, HereOrder
from servers.joining.proofs import fresh_nonce, proves
from servers.limits.json_size import has_more_values
from servers.limits.processor_budget import LONGEST_JUDGEMENT
from servers.records import Record
from servers.sandbox.guest_pool import LARGEST_REPLY
from servers.validation import first_problem

SECONDS = 60.0
LONG_SECONDS = LONGEST_JUDGEMENT + SECONDS
"""Seconds to wait for an operation that runs untrusted code: longer than its budget may take on a busy machine."""
SECONDS_TO_CONNECT = 3.0
SECONDS_TO_REACH = 3.0
"""Seconds that a worker that joins has to answer at the address that it advertises."""
PATIENCE = 2
"""An answer that trickles ends after this many times the seconds for which a silent one is waited for."""
LONG = frozenset({JUDGE.name, LAUNCH.name, ARRIVE.name, CALL.name})
LARGEST_ANSWER = 32 * 1024 * 1024
"""Bytes of an answer of a worker. An image, which goes into a file, may be as large as one that a guest says."""
MOST_ANSWERED_VALUES = 600_000
"""Values of an answer that is read here. Each may be a fault that is listed, or an object."""
LONG_BODY = 256 * 1024
LONGEST_TOLD = 2_000
"""Characters of a worker's error."""
MOST_ANSWERED = 48 * 1024 * 1024
"""Bytes of all unfinished answers of one worker."""
ERRORS: dict[str, type[FarmError]] = {
    kind: error for kind, error in vars(errors).items() if isinstance(error, type) and issubclass(error, FarmError)
}


SECONDS_TO_RETURN = 10.0
"""Seconds that a request waits for a worker that has started again and has not joined yet."""


async def _has_many_values(body: bytes) -> bool:
    """True if an answer has too many values. A long one is counted by a thread, in steps of some milliseconds."""
    if len(body) <= LONG_BODY:
        return has_more_values(body, MOST_ANSWERED_VALUES)
    return await asyncio.to_thread(has_more_values, body, MOST_ANSWERED_VALUES)


class WorkerAway(CapacityError):
    """A worker cannot be reached, or has fallen silent. Others may do."""


class NotJoined(WorkerAway):
    """A worker has started again, and does not know the token of its last session. It did nothing."""


class RemoteWorker:
    """The operations of a worker, each as one HTTP request."""

    def __init__(self, url: str, token: str, *, authority: Path | None = None, folder: Path | None = None) -> None:
        self._folder = folder
        limits = httpx.Limits(max_connections=64, max_keepalive_connections=64, keepalive_expiry=3.0)
        self._http = httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            transport=OneAnswer(limits, authority=authority),
        )
        self._token = token.encode()
        self._room = AnswerRoom(MOST_ANSWERED)
        self._waiting: dict[asyncio.Timeout, str] = {}
        self._successor: RemoteWorker | None = None
        self._replaced = asyncio.Event()
        self.url = url

    async def aclose(self) -> None:
        await self._http.aclose()

    def cut(self, *, launches_only: bool = False) -> None:
        """Wait no longer for answers: the worker is silent."""
        now = asyncio.get_running_loop().time()
        for waiting, operation in list(self._waiting.items()):
            if operation == LAUNCH.name or not launches_only:
                waiting.reschedule(now)

    def give_way(self, successor: "RemoteWorker") -> None:
        """Wait no longer for answers: the worker has joined anew, and `successor` asks it from now on."""
        self._successor = successor
        self._replaced.set()
        self.cut()

    async def reach(self) -> str | None:
        """Ask who is at the address. Returns why it is not this worker, or None. The token is not sent."""
        nonce = fresh_nonce()
        try:
            body = HereOrder(nonce=nonce).model_dump_json()
            request = self._http.build_request("POST", HERE, content=body, timeout=SECONDS_TO_REACH)
            del request.headers["Authorization"]
            async with asyncio.timeout(SECONDS_TO_REACH):
                response = await bounded_answer(self._http, request, largest=LARGEST_MESSAGE)
        except (httpx.HTTPError, TimeoutError) as error:
            return f"nobody answers there ({str(error) or type(error).__name__})"
        try:
            given = HereAnswer.model_validate_json(response.content).proof
        except ValidationError:
            return f"another server answers there (HTTP {response.status_code})"
        return None if proves(given, self._token, "here", nonce) else "another worker answers there"

    async def ask(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        if self._successor is None:
            try:
                return await self._answer(operation, order)
            except NotJoined:
                await self._wait_until_replaced()
                if self._successor is None:
                    raise
        return await self._successor.ask(operation, order)

    async def _answer(self, operation: Operation[OrderT, AnswerT], order: OrderT) -> AnswerT:
        seconds = LONG_SECONDS if operation.name in LONG else SECONDS
        said = await self._post(operation, order, seconds=seconds)
        if operation.is_parsed and await _has_many_values(said[:]):
            raise InfraError(
                f"the worker at {self.url} answered {operation.name} with what is no answer: it has more than "
                f"{MOST_ANSWERED_VALUES:,} values"
            )
        try:
            return operation.read(said)
        except ValidationError as error:
            raise InfraError(
                f"the worker at {self.url} answered {operation.name} with what is no answer: {first_problem(error)}"
            ) from None

    async def _wait_until_replaced(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(SECONDS_TO_RETURN):
                await self._replaced.wait()

    async def _said(self, request: httpx.Request, *, is_image: bool) -> tuple[httpx.Response, Image]:
        """An answer, and its body."""
        if is_image:
            return await spooled_answer(
                self._http, request, largest=LARGEST_REPLY, largest_error=LARGEST_MESSAGE, folder=self._folder
            )
        response = await bounded_answer(self._http, request, largest=LARGEST_ANSWER, room=self._room)
        return response, response.content

    async def _post(self, asked: Operation[OrderT, AnswerT], order: Record, *, seconds: float) -> Image:
        operation = asked.name
        timeout = httpx.Timeout(seconds, connect=min(seconds, SECONDS_TO_CONNECT))
        late = CapacityError(
            f"the worker at {self.url} did not answer {operation} within {seconds:g} s; the machine may be busy: "
            "wait and try again"
        )
        ends = asyncio.get_running_loop().time() + PATIENCE * seconds
        waiting: asyncio.Timeout | None = None
        try:
            async with asyncio.timeout_at(ends) as waiting:
                self._waiting[waiting] = operation
                try:
                    request = self._http.build_request(
                        "POST", f"/w/{operation}", content=order.model_dump_json(), timeout=timeout
                    )
                    response, said = await self._said(request, is_image=asked.is_image)
                finally:
                    del self._waiting[waiting]
        except TimeoutError:
            if waiting is not None and waiting.when() == ends:
                raise late from None
            raise WorkerAway(f"the worker at {self.url} has fallen silent; others may have room") from None
        except AnswerTooLarge as error:
            raise InfraError(f"the worker at {self.url} answered {operation} with what is no answer: {error}") from None
        except httpx.ConnectTimeout:
            raise WorkerAway(f"the worker at {self.url} cannot be reached") from None
        except httpx.TimeoutException:
            raise late from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise WorkerAway(f"the worker at {self.url} does not answer ({reason}); it may be starting again") from None
        except OSError as error:
            raise InfraError(f"there is no room for what {operation} answers: {error.strerror}") from None
        if not response.is_success:
            raise self._told(operation, response, said)
        return said

    def _told(self, operation: str, response: httpx.Response, said: Image) -> FarmError:
        """The error that a worker answers with."""
        if response.status_code == HTTPStatus.UNAUTHORIZED:
            return NotJoined(
                f"the worker at {self.url} has started again and has not joined yet; try again in a moment"
            )
        try:
            told = ErrorAnswer.model_validate_json(said[:LARGEST_MESSAGE]).error
        except ValidationError:
            return InfraError(f"the worker at {self.url} answered {operation} with {response.status_code}")
        return ERRORS.get(told.kind, InfraError)(told.message[:LONGEST_TOLD])
