"""A worker's side of joining: it proves itself to its registry, has the registry prove itself, and sends heartbeats.

It believes nothing from a registry that has not proved that it knows the join token.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import TypeVar

import httpx
from pydantic import ValidationError

from servers.errors import BundleError, InfraError, RequestError, StateError
from servers.files.spooled import SpooledBytes
from servers.files.trouble import trouble
from servers.joining.bounded_answer import OneAnswer, bounded_answer, spooled_answer
from servers.joining.fetched_bundles import LARGEST_PACKED, FetchedBundles
from servers.joining.messages import (
    BEAT,
    BEAT_SECONDS,
    BUNDLE,
    CHALLENGE,
    JOIN,
    LARGEST_MESSAGE,
    LEAVE,
    VERSION,
    Beat,
    BeatAnswer,
    BundleOrder,
    Challenge,
    ChallengeAnswer,
    JoinAnswer,
    JoinOrder,
)
from servers.joining.proofs import (
    PROOF_HEADER,
    ControlTokens,
    control_token,
    fresh_nonce,
    proves,
    request_proof,
)
from servers.records import Record
from servers.worker.settings import JoinSettings
from servers.worker.worker import Worker

SECONDS = 10.0
"""Seconds to wait for the registry."""
SECONDS_FOR_BUNDLE = 300.0
"""Seconds for a bundle on its way here."""
AGAIN_SECONDS = 1.0
MISSED = 2
"""Heartbeats in a row without an answer that are worth an error. At the end of a farm its workers may miss one."""
PROOF = PROOF_HEADER.decode()
AnswerT = TypeVar("AnswerT", bound=Record)
BodyT = TypeVar("BodyT")
log = logging.getLogger("farm.member")


class RegistryAway(InfraError):
    """The registry does not answer, or cannot answer now. The worker tries again."""


class Unknown(InfraError):
    """The registry does not know the session any more. The worker joins again."""


class FarmMember:
    """One worker as the member of a farm. `beat` keeps it one, until it is told to leave."""

    def __init__(self, worker: Worker, settings: JoinSettings, tokens: ControlTokens) -> None:
        self._worker = worker
        self._settings = settings
        self._tokens = tokens
        self._fetched = FetchedBundles(worker.folder)
        self._key = settings.token.encode()
        self._number = 0
        self._turn = 0
        limits = httpx.Limits(max_connections=2, keepalive_expiry=4.0)
        self._http = httpx.AsyncClient(
            trust_env=False,
            transport=OneAnswer(limits, authority=settings.authority),
            timeout=httpx.Timeout(SECONDS, connect=3.0),
        )

    async def aclose(self) -> None:
        await self._http.aclose()

    @property
    def registry(self) -> str:
        """The URL of the registry that is asked now."""
        return self._settings.registries[self._turn % len(self._settings.registries)].rstrip("/")

    def ask_next(self) -> None:
        """Ask the next registry from now on."""
        self._turn += 1

    async def join(self) -> None:
        """Join the registry. While it does not answer, try again.

        Raises:
            RequestError: it refuses this worker, or does not prove itself.
        """
        await _patiently(self._join, f"no registry answers at {' or '.join(self._settings.registries)}")

    async def _join(self) -> None:
        fetched: set[tuple[str, str]] = set()
        while lacking := (await self._joined()).lacks:
            if fetched & lacking.items():
                raise RegistryAway("it says that this worker lacks bundles which this worker has just fetched")
            self._fetched.see_that_none_is_hidden(lacking, self._worker.library.folders)
            for name, digest in lacking.items():
                await self._fetch(name, digest)
                fetched.add((name, digest))

    async def _session(self) -> str:
        """A session with a registry that has proved itself. Its name can be used once."""
        nonce = fresh_nonce()
        answer = await self._ask(CHALLENGE, Challenge(nonce=nonce, version=VERSION), ChallengeAnswer, self._key)
        return f"{nonce}.{answer.nonce}"

    async def _joined(self) -> JoinAnswer:
        """Ask to join. Unless bundles are lacking, this worker is in the fleet then."""
        session = await self._session()
        order = JoinOrder(
            session=session,
            name=self._settings.name,
            identity=self._worker.identity,
            url=self._settings.advertise,
            reached_at=self._settings.reached_at,
            version=VERSION,
            at=time.time(),
            capacity=self._worker.settings.most_instances,
            bundles=await asyncio.to_thread(self._worker.library.digests),
        )
        self._tokens.coming = control_token(self._key, session, order.name, order.identity)
        answer = await self._ask(JOIN, order, JoinAnswer, self._key)
        if not answer.lacks:
            self._tokens.agree()
            self._number = 0
            log.info("joined", extra={"registry": self.registry, "worker": order.name})
        return answer

    async def _fetch(self, name: str, digest: str) -> None:
        """Fetch a bundle of the registry's by its digest, which is checked before anything of the bundle is read."""
        order = BundleOrder(session=await self._session(), name=name, digest=digest)
        try:
            response, packed = await self._proved(BUNDLE, order, self._key, self._bundle)
            _see_to_status(response)
            await asyncio.to_thread(self._fetched.keep, name, digest, packed)
        except RegistryAway:
            self.ask_next()
            raise
        except BundleError as error:
            raise RegistryAway(str(error)) from None
        except OSError as error:
            raise StateError(f"there is no room for the bundle {name}: {trouble(error)}") from None
        log.info("bundle fetched", extra={"registry": self.registry, "environment": name})

    async def beat(self) -> None:
        """Send heartbeats until the registry lets this worker leave. Joins again if the registry has forgotten it.

        Raises:
            RequestError: the registry refuses this worker.
        """
        missed = 0
        while True:
            await asyncio.sleep(BEAT_SECONDS)
            try:
                if await self._beat():
                    return
                if missed >= MISSED:
                    log.info("registry answers again", extra={"registry": self.registry})
                missed = 0
            except Unknown:
                await self.join()
            except RegistryAway as error:
                missed += 1
                if missed == MISSED:
                    log.error("registry does not answer", extra={"error": str(error)})

    async def _beat(self) -> bool:
        self._number += 1
        beat = Beat(name=self._settings.name, number=self._number)
        return (await self._ask(BEAT, beat, BeatAnswer, self._tokens.current.encode())).leave

    async def leave(self) -> None:
        """Tell the registry that this worker ends now, so that it gets no launches. Its instances stay here."""
        try:
            async with asyncio.timeout(BEAT_SECONDS):
                beat = Beat(name=self._settings.name, number=self._number + 1)
                await self._ask(LEAVE, beat, BeatAnswer, self._tokens.current.encode())
        except (InfraError, RequestError, TimeoutError) as error:
            log.info("left without a word", extra={"error": str(error)})

    async def _ask(self, path: str, order: Record, kind: type[AnswerT], key: bytes) -> AnswerT:
        """Ask the registry. Where it is away, the next one is asked from now on."""
        try:
            return await self._ask_one(path, order, kind, key)
        except RegistryAway:
            self.ask_next()
            raise

    async def _ask_one(self, path: str, order: Record, kind: type[AnswerT], key: bytes) -> AnswerT:
        response, _ = await self._proved(path, order, key, self._message)
        _see_to_status(response)
        try:
            return kind.model_validate_json(response.content)
        except ValidationError:
            raise RequestError(f"what answers at {self.registry} is no registry of this version") from None

    async def _proved(
        self,
        path: str,
        order: Record,
        key: bytes,
        receive: Callable[[httpx.Request], Awaitable[tuple[httpx.Response, BodyT]]],
    ) -> tuple[httpx.Response, BodyT]:
        """Ask a registry, with a proof of this worker. Only an answer that the registry proves is believed.

        The proof does not hold for a body that comes in a file. Its digest does.
        """
        body = order.model_dump_json().encode()
        mine = request_proof(key, path, body)
        headers = {PROOF: mine, "Content-Type": "application/json"}
        try:
            request = self._http.build_request("POST", f"{self.registry}{path}", content=body, headers=headers)
            response, file = await receive(request)
        except (httpx.HTTPError, TimeoutError) as error:
            raise RegistryAway(str(error) or type(error).__name__) from None
        theirs = response.headers.get(PROOF, "")
        if not proves(theirs, key, "answer", mine, str(response.status_code), response.content):
            raise self._not_proved(path, response)
        return response, file

    async def _message(self, request: httpx.Request) -> tuple[httpx.Response, None]:
        async with asyncio.timeout(SECONDS):
            return await bounded_answer(self._http, request, largest=LARGEST_MESSAGE), None

    async def _bundle(self, request: httpx.Request) -> tuple[httpx.Response, SpooledBytes]:
        async with asyncio.timeout(SECONDS_FOR_BUNDLE):
            return await spooled_answer(
                self._http,
                request,
                largest=LARGEST_PACKED,
                largest_error=LARGEST_MESSAGE,
                folder=self._fetched.state,
            )

    def _not_proved(self, path: str, response: httpx.Response) -> InfraError | RequestError:
        """What an answer without a proof means. It is shown at most, and has this worker join anew at most."""
        url = self.registry
        if path == BEAT and response.status_code == HTTPStatus.NOT_FOUND:
            return Unknown("the registry does not know this session")
        if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
            return RegistryAway(f"{url} answered {response.status_code}")
        if response.status_code == HTTPStatus.CONFLICT:
            return RequestError(f"{_message_of(response)} (so says {url}, without a proof)")
        if response.status_code in (HTTPStatus.OK, HTTPStatus.UNAUTHORIZED):
            return RequestError(
                f"what answers at {url} does not know the join token of --token-file: it is another farm's, or no"
                " farm at all; the file join-token in the state folder of `farm up` has the right one"
            )
        return RequestError(f"what answers at {url} is no registry: HTTP {response.status_code}")


def _see_to_status(response: httpx.Response) -> None:
    """Raise the error that a registry answers with."""
    if response.status_code == HTTPStatus.NOT_FOUND:
        raise Unknown("the registry does not know this worker")
    if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
        raise RegistryAway(_message_of(response))
    if not response.is_success:
        raise RequestError(_message_of(response))


async def _patiently(work: Callable[[], Awaitable[None]], complaint: str) -> None:
    """Do something again each second while the registry is away."""
    told = False
    while True:
        try:
            await work()
            return
        except RegistryAway as error:
            if not told:
                log.error("cannot join yet", extra={"error": f"{complaint}: {error}"})
            told = True
            await asyncio.sleep(AGAIN_SECONDS)


def _message_of(response: httpx.Response) -> str:
    try:
        return str(response.json()["error"]["message"])[:2000]
    except (ValueError, KeyError, TypeError):
        return f"HTTP {response.status_code}"
