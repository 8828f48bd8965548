"""The connection to an OpenAI-compatible endpoint, with retries for temporary errors.

The only module that imports `openai`.
"""

import asyncio
import json
import math
import random
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from types import TracebackType
from typing import Any, NamedTuple, Self, TypeVar

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError, AsyncOpenAI
from pydantic import BaseModel, ValidationError

from agent_client.connections import ask_plainly, bounded
from agent_client.errors import ConversationTooLong, EndpointDown, EndpointRefused
from agent_client.model import EPISODE_CLOCK
from agent_client.models.completion import AnyCompletion, Embeddings

T = TypeVar("T", bound=BaseModel)
Sleep = Callable[[float], Awaitable[None]]
EMBEDDED_AT_ONCE = 128
LARGEST_ANSWER = 64 * 1024 * 1024
LONGEST_WAIT = 60.0  # seconds; an endpoint that asks for more is refused, before an agent is blamed for the time
TOO_LONG = ("context_length_exceeded", "maximum context length", "context window", "too many tokens")
SYSTEMS_NUMBER = re.compile(r"^\[Errno -?\d+\] ")
SECONDS_TO_CHECK = 60.0
ATTEMPTS_TO_CHECK = 3
SHORTEST_KEY = 8
"""Characters of a key that is taken out of what an endpoint says. A shorter one is a word, such as `none`."""
OUT_OF_MONEY = "insufficient_quota"
LOSES_THE_BODY = (301, 302, 303)
"""Redirects after which clients send GET, so that the endpoint never gets the request. 307 and 308 are followed."""
REFUSES_ALL = (*LOSES_THE_BODY, 401, 402, 403, 404, 405, 501)
"""Refusals that no other request changes. A model may refuse the short request of `check_model` for its size (400)."""
ABOUT_KEY = (401, 403)
HINTS = {
    401: "the key is wrong",
    402: "it wants to be paid first",
    403: "the key may not use this model",
    404: "no such model, or the base URL lacks its /v1",
    405: "the base URL seems wrong",
}
ESCAPE = re.compile(
    rb"\\(?:u(?:[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2}))|.)",
    re.DOTALL,
)
"""An escape in a JSON text. It is half a character if its partner is missing."""
SAYS_STATUS = re.compile(r"^Error code: \d+( - )?")


class NamedKey(NamedTuple):
    """An endpoint's key, and the variable that it comes from, which the text of a refusal names. `none` is no key."""

    value: str = "none"
    variable: str = ""

    @property
    def is_given(self) -> bool:
        return self.value not in ("", "none")


NO_KEY = NamedKey()


class PassingError(EndpointDown):
    """A temporary error. `wait` is the number of seconds that the endpoint asked for.

    An endpoint that `is_busy` works, but not now. One that answers nonsense may be something else at a wrong URL.
    """

    def __init__(
        self,
        message: str,
        wait: float | None = None,
        *,
        nobody_listens: bool = False,
        is_busy: bool = False,
        is_nonsense: bool = False,
    ) -> None:
        super().__init__(message)
        self.wait = wait
        self.nobody_listens = nobody_listens
        self.is_busy = is_busy
        self.is_nonsense = is_nonsense


@dataclass(frozen=True)
class Retries:
    """How a request is retried: `attempts` in all. The first wait is `backoff` seconds, and each further wait doubles.

    `on_retry` is called with the reason before each wait, and `on_refusal` with a refusal, which is final.
    """

    attempts: int = 6
    backoff: float = 1.0
    sleep: Sleep = asyncio.sleep
    on_retry: Callable[[str], None] | None = None
    on_refusal: Callable[[EndpointRefused], None] | None = None


class Endpoint:
    """An endpoint. Enter it with `async with`, as it holds connections.

    Rate limits, server errors and broken connections are retried. A refusal is final. A task that is cancelled during a
    wait has the last error as the cause of its CancelledError. If nothing listens at an address that never answered,
    one attempt is enough: the address is wrong. A retry that would begin after the time limit of the episode under way
    is not waited for.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | NamedKey = NO_KEY,
        seconds: float = 300.0,
        retries: Retries = Retries(),
        connections: int = 1000,
    ) -> None:
        self.base_url = base_url
        self._key = api_key if isinstance(api_key, NamedKey) else NamedKey(api_key)
        self._attempts = retries.attempts
        self._backoff = retries.backoff
        self._sleep = retries.sleep
        self._on_retry = retries.on_retry or _ignore
        self._on_refusal = retries.on_refusal or _ignore
        self._has_listened = False
        self._seconds = seconds
        limits = httpx2.Limits(max_connections=connections, max_keepalive_connections=connections)
        hooks: dict[str, list[Callable[..., Any]]] = {"request": [ask_plainly], "response": [_bound]}
        http = httpx2.AsyncClient(limits=limits, timeout=seconds, follow_redirects=True, event_hooks=hooks)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=self._key.value or NO_KEY.value,
            max_retries=0,
            timeout=seconds,
            http_client=http,
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.close()

    async def post(self, path: str, body: Mapping[str, Any], kind: type[T]) -> T:
        """Send a request until it is answered. Raises EndpointDown, EndpointRefused, or ConversationTooLong."""
        trouble: PassingError | None = None
        for attempt in range(self._attempts):
            if trouble is not None:
                await self._pause(attempt, self._attempts, trouble)
            try:
                return await self._post(path, body, kind)
            except PassingError as error:
                trouble = error
                if error.nobody_listens and not self._has_listened:
                    raise EndpointDown(str(error)) from error
            except EndpointRefused as error:
                self._on_refusal(error)
                raise
            except asyncio.CancelledError as cancelled:
                raise cancelled from trouble
        raise EndpointDown(f"{trouble} ({counted(self._attempts)})") from trouble

    async def check(self) -> None:
        """Request the list of models, which costs nothing. An endpoint without such a list passes.

        Raises:
            EndpointDown: nothing answers.
            EndpointRefused: the key is refused.
        """
        try:
            timeout = min(self._seconds, SECONDS_TO_CHECK)
            response = await self._client.get("/models", cast_to=httpx2.Response, options={"timeout": timeout})
            self._refuse_redirect(response, "/models")
        except APIConnectionError as error:
            self._refuse_endless_redirect(error)
            raise EndpointDown(self._unreachable(error)) from error
        except APIStatusError as error:
            self._refuse_redirect(error.response, "/models")
            refusal = self._refusal(error)
            if error.status_code in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                raise refusal from error

    async def check_model(self, model: str, *, seconds: float = SECONDS_TO_CHECK) -> None:
        """Ask a model for one token, a few times if it fails. An endpoint that is busy or slow passes.

        Raises:
            EndpointRefused: there is no such model, the key may not use it, or what answers serves no models.
            EndpointDown: it fails each time.
        """
        body = {"model": model, "messages": [{"role": "user", "content": "Hello."}], limit_name(self.base_url): 1}
        trouble: PassingError | None = None
        attempt = 0
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for attempt in range(ATTEMPTS_TO_CHECK):
                    if trouble is not None:
                        await self._pause(attempt, ATTEMPTS_TO_CHECK, trouble)
                    trouble = await self._trouble_with(body)
                    if trouble is None:
                        return
        if trouble is not None:
            said = f"{trouble} ({counted(attempt + 1)})"
            if trouble.is_nonsense:
                raise EndpointRefused(f"{said}; the base URL seems wrong", status=HTTPStatus.OK)
            raise EndpointDown(said) from trouble

    async def _trouble_with(self, body: Mapping[str, Any]) -> PassingError | None:
        """What goes wrong with a short request. None if nothing does, or if it shows that the endpoint works."""
        try:
            await self._post("/chat/completions", body, AnyCompletion)
        except PassingError as error:
            return None if error.is_busy else error
        except ConversationTooLong:
            return None
        except EndpointRefused as error:
            if error.status in REFUSES_ALL:
                raise
        return None

    async def embed(self, model: str, texts: Sequence[str]) -> list[tuple[float, ...]]:
        """A vector for each text, all of the same length. Raises as `post` does."""
        found: list[tuple[float, ...]] = []
        for at in range(0, len(texts), EMBEDDED_AT_ONCE):
            part = list(texts[at : at + EMBEDDED_AT_ONCE])
            body = {"model": model, "input": part, "encoding_format": "float"}
            answer = await self.post("/embeddings", body, Embeddings)
            ordered = sorted(answer.data, key=lambda one: one.index)
            if [one.index for one in ordered] != list(range(len(part))):
                raise EndpointDown(f"{self.base_url} answered {len(ordered)} embeddings to {len(part)} texts")
            found += [one.embedding for one in ordered]
        if len({len(vector) for vector in found}) > 1:
            raise EndpointDown(f"{self.base_url} answered embeddings of different lengths")
        return found

    async def _pause(self, attempt: int, of: int, trouble: PassingError) -> None:
        wait = trouble.wait
        if wait is None:
            # Spread out, or many agents that were refused together come back together.
            wait = self._backoff * 2 ** (attempt - 1) * (0.5 + random.random() / 2)  # noqa: S311
        if asyncio.get_running_loop().time() + wait >= _end_of_episode():
            late = f"{counted(attempt)}; another would follow in {wait:.1f} s, and the time is over before"
            raise EndpointDown(f"{trouble} ({late})") from trouble
        self._on_retry(f"{trouble}; attempt {attempt + 1} of {of} follows in {wait:.1f} s")
        try:
            await self._sleep(wait)
        except asyncio.CancelledError as cancelled:
            raise cancelled from trouble

    async def _post(self, path: str, body: Mapping[str, Any], kind: type[T]) -> T:
        try:
            # The bytes: the library's own types promise what not every endpoint keeps.
            response = await self._client.post(path, cast_to=httpx2.Response, body=body)
            self._has_listened = True
            self._refuse_redirect(response, path)
            return kind.model_validate_json(_whole_characters(response.content))
        except APIConnectionError as error:
            self._refuse_endless_redirect(error)
            nobody_listens = isinstance(error.__cause__, httpx2.ConnectError)
            is_slow = isinstance(error, APITimeoutError)
            raise PassingError(self._unreachable(error), nobody_listens=nobody_listens, is_busy=is_slow) from error
        except APIStatusError as error:
            self._has_listened = True
            self._refuse_redirect(error.response, path)
            raise self._refusal(error) from error
        except ValidationError as error:
            message = f"{self.base_url} answered no {_words(kind)}: {_brief(error)}"
            raise PassingError(message, is_nonsense=True) from error

    def _refuse_redirect(self, response: httpx2.Response, path: str) -> None:
        """Refuse an answer that a redirect led to, if the endpoint there never got the request's body."""
        status = next((one.status_code for one in response.history if one.status_code in LOSES_THE_BODY), None)
        if status is not None:
            there = str(response.url).removesuffix(path)
            raise EndpointRefused(
                f"{self.base_url} redirects to {there} (HTTP {status}), and requests are lost on the way; give that"
                " address as the base URL",
                status=status,
            )

    def _refuse_endless_redirect(self, error: APIConnectionError) -> None:
        if isinstance(error.__cause__, httpx2.TooManyRedirects):
            message = f"{self.base_url} redirects in a circle; is the base URL right?"
            raise EndpointRefused(message, status=HTTPStatus.FOUND) from error

    def _unreachable(self, error: APIConnectionError) -> str:
        why = SYSTEMS_NUMBER.sub("", str(error.__cause__ or "")) or error
        return f"cannot reach {self.base_url}: {why}; is a model's server running there, and the base URL right?"

    def _refusal(self, error: APIStatusError) -> EndpointDown | EndpointRefused | ConversationTooLong:
        status, words = error.status_code, self._without_key(_words_of(error))
        said = f"{self.base_url} answered HTTP {status}{f': {words[:300]}' if words else ''}"
        if status in (400, 413) and any(sign in f"{error.code} {words}".lower() for sign in TOO_LONG):
            return ConversationTooLong(f"the conversation no longer fits the model: {words[:300]}")
        if status in (408, 409, 429) or (status >= 500 and status != HTTPStatus.NOT_IMPLEMENTED):
            wait = _asked_wait(error)
            if error.code == OUT_OF_MONEY or (wait or 0) > LONGEST_WAIT:
                return EndpointDown(f"{said}; it will not pass soon" + (f": retry in {wait:g} s" if wait else ""))
            return PassingError(said, wait, is_busy=status < 500 or wait is not None)
        return EndpointRefused(f"{said}; {self._hint(status)}", status=status)

    def _without_key(self, words: str) -> str:
        """What an endpoint says, without the key, which some repeat: the words go into files and reports."""
        return words.replace(self._key.value, "(the key)") if len(self._key.value) >= SHORTEST_KEY else words

    def _hint(self, status: int) -> str:
        variable = self._key.variable if status in ABOUT_KEY else ""
        if status in ABOUT_KEY and not self._key.is_given:
            return f"no key was given{f': set {variable}' if variable else ''}"
        hint = HINTS.get(status, "the endpoint does not take such a request")
        return f"{hint} ({variable})" if variable else hint


async def _bound(response: httpx2.Response) -> None:
    """Let an answer end with an error once it is larger than it may be."""
    response.stream = bounded(response, LARGEST_ANSWER)


def _whole_characters(text: bytes) -> bytes:
    """A JSON text with U+FFFD for half characters and wrong UTF-8: a model may say them, and no retry helps."""
    text = ESCAPE.sub(lambda found: rb"\ufffd" if found["half"] else found[0], text) if rb"\u" in text else text
    return text if text.isascii() else text.decode("utf-8", "replace").encode()


def _ignore(_: object) -> None:
    return


def _end_of_episode() -> float:
    """When the time of the episode under way is over, on the event loop's clock."""
    clock = EPISODE_CLOCK.get()
    ends = None if clock is None else clock.when()
    return math.inf if ends is None else ends


def counted(attempts: int) -> str:
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"


def limit_name(base_url: str) -> str:
    """The endpoint's name for the limit on completion tokens."""
    # OpenAI's reasoning models refuse the old name; many other endpoints silently pass over the new one.
    return "max_completion_tokens" if "api.openai.com" in base_url else "max_tokens"


def _asked_wait(error: APIStatusError) -> float | None:
    """Retry-After in seconds. The date form is rare among these endpoints and is ignored."""
    asked = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(asked))
    except ValueError:
        return None


def _words(kind: type[BaseModel]) -> str:
    return "chat completion" if kind.__name__.endswith("Completion") else kind.__name__.lower()


def _words_of(error: APIStatusError) -> str:
    """What an endpoint says of an error, in one line. The library puts the status before it."""
    words = SAYS_STATUS.sub("", error.message)
    if not words and error.body:
        words = error.body if isinstance(error.body, str) else json.dumps(error.body)
    return " ".join(words.split())


def _brief(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(step) for step in first['loc'])}: {first['msg']}" if first["loc"] else first["msg"]
