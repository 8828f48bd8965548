"""The answers of endpoints for chat completions and embeddings: the fields that are used here."""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field


class LenientModel(BaseModel):
    """A record that ignores unknown keys, since endpoints add their own."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class Function(LenientModel):
    name: str | None = None
    arguments: Any = None  # text by the book; some endpoints send the object itself


class ChatToolCall(LenientModel):
    id: str | None = None
    function: Function = Function()


class AssistantMessage(LenientModel):
    content: str | None = None
    refusal: str | None = None
    reasoning: str | None = Field(default=None, validation_alias=AliasChoices("reasoning_content", "reasoning"))
    tool_calls: tuple[ChatToolCall, ...] | None = None


class CompletionChoice(LenientModel):
    message: AssistantMessage
    finish_reason: str | None = None


class Usage(LenientModel):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class Completion(LenientModel):
    choices: tuple[CompletionChoice, ...] = Field(min_length=1)
    model: str = ""
    usage: Usage | None = None


class AnyCompletion(LenientModel):
    """The least of a chat completion. What one token leaves of a message may lack what `Completion` asks for."""

    choices: tuple[Any, ...] = Field(min_length=1)


class Embedding(LenientModel):
    """One text's vector. `index` is the position of the text in the request."""

    index: int
    embedding: tuple[float, ...]


class Embeddings(LenientModel):
    """The vectors of one request."""

    data: tuple[Embedding, ...]
