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

from servers.errors import FarmError
from servers.records import Record


class Message(Record):
    """One turn of what a writer is told."""

    role: Literal["system", "user", "assistant"]
    content: str


class WriterAnswer(Record):
    """What a writer answered, and what it took.

    `prompt` is the digest of what was asked. What came from a cache or a recording was paid for before: `cached`.
    """

    value: Any
    model: str
    prompt: str
    prompt_tokens: int
    completion_tokens: int
    cached: bool

    @classmethod
    def nothing(cls, prompt: str) -> Self:
        """What is known of an answer that nobody has told about."""
        return cls(value=None, model="", prompt=prompt, prompt_tokens=0, completion_tokens=0, cached=False)


class Writer(Protocol):
    """Any model, however it is reached."""

    async def ask(self, messages: Sequence[Message], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """Ask for a value of a schema; `label` says for whom, `environment/stage`. Raises WriterError."""
        ...


class WriterError(FarmError):
    """There is no answer to use."""


class WriterUnreachable(WriterError):
    """The endpoint is down or broken, and still was after some attempts."""


class WriterRefused(WriterError):
    """The endpoint does not take such a request."""


class PromptTooLong(WriterError):
    """What is asked no longer fits the model's context."""


class UnknownPrompt(WriterError):
    """A recording holds no answer to this."""


class BadAnswer(WriterError):
    """The model answered what cannot be used: `text` is what it said, `why` what is wrong with it.

    `spent` is the answer without its value: what it took.
    """

    def __init__(self, text: str, why: str, *, spent: WriterAnswer | None = None) -> None:
        super().__init__(why)
        self.text = text
        self.why = why
        self.spent = spent


class Waiting(WriterError):
    """The request is noted; its answer is not there yet."""


def digest_of(value: Any) -> str:
    """The SHA-256 of a JSON value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def prompt_digest(messages: Sequence[Message], schema: dict[str, Any]) -> str:
    """The digest of what is asked, whoever answers."""
    return digest_of({"messages": [message.model_dump() for message in messages], "schema": schema})
