"""What a writer is: it is asked with messages and a JSON schema, and answers with a value.

WriterError
├── WriterUnreachable   whoever runs the endpoint: down, overloaded or broken, also after some attempts
├── WriterRefused       the caller: a wrong key, an unknown model, a request that is not taken
├── PromptTooLong       the stage: what it asks no longer fits the model
├── UnknownPrompt       the caller: a recording holds no answer to this
├── BadAnswer           the model: no JSON, not of the schema, empty, or cut off
└── Waiting             nobody: the answer is not there yet
"""

import hashlib
import json
from collections.abc import Sequence
from typing import Any, Literal, Protocol, Self

from servers.errors import FarmError, RequestError
from servers.records import Record


class WriterMessage(Record):
    """A message to a writer."""

    role: Literal["system", "user", "assistant"]
    content: str


class Sampling(Record):
    """The sampling parameters. None leaves one to the endpoint. All are part of the cache's key."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None


class WriterAnswer(Record):
    """A writer's answer, and its cost.

    `prompt` is the digest of the request. A `cached` answer, from a cache or a recording, was paid for before.
    """

    value: Any
    model: str
    prompt: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool

    @classmethod
    def nothing(cls, prompt: str) -> Self:
        """An answer about which nothing is known."""
        return cls(value=None, model="", prompt=prompt, prompt_tokens=0, completion_tokens=0, cached=False)


class Writer(Protocol):
    """Any model, in-process or remote."""

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """Ask for a value of a schema. `label` is `environment/stage`. Raises WriterError."""
        ...


class WriterError(FarmError):
    """There is no usable answer."""


class WriterUnreachable(WriterError):
    """The endpoint is down or broken, after all attempts."""


class WriterRefused(WriterError, RequestError):
    """The endpoint refuses the request."""


class PromptTooLong(WriterError):
    """The prompt no longer fits the model's context."""


class UnknownPrompt(WriterError):
    """A recording has no answer to this request."""


class BadAnswer(WriterError):
    """The model's answer is not usable: `text` is the answer, `why` its fault.

    `spent` is the answer's cost, without its value.
    """

    def __init__(self, text: str, why: str, *, spent: WriterAnswer | None = None) -> None:
        super().__init__(why)
        self.text = text
        self.why = why
        self.spent = spent


class Waiting(WriterError):
    """The request was collected. Its answer does not exist yet."""


def digest_of(value: Any) -> str:
    """The SHA-256 of a JSON value, independent of the order of keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_digest(messages: Sequence[WriterMessage], schema: dict[str, Any]) -> str:
    """The digest of a request, independent of who answers."""
    return digest_of({"messages": [message.model_dump() for message in messages], "schema": schema})
