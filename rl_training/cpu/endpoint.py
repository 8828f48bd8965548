# pyright: basic, reportMissingImports=false
"""An OpenAI-compatible endpoint of a small model on a CPU, so that its checkpoint is evaluated like any other model.

It does what vLLM does with the format `hermes`, by temperature alone. It streams nothing, and keeps nothing between two
requests.
"""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any
from uuid import uuid4

import torch
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from jinja2 import TemplateError
from pydantic import BaseModel, ConfigDict, Field
from transformers import AutoModelForCausalLM, AutoTokenizer

from agent_client.errors import ConversationTooLong
from agent_client.models.call_text import HERMES
from rl_training.cpu.generation import Generation, GenerationRequest
from servers.doors.server import listen, serving, url_of
from servers.errors import RequestError
from servers.files.trouble import trouble

THREADS = 2
LOOPBACK = "127.0.0.1"


class ChatRequest(BaseModel):
    """What is read of a request. Its other keys change nothing."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: list[dict[str, Any]] = Field(min_length=1)
    tools: list[dict[str, Any]] | None = None
    temperature: float | None = Field(default=None, ge=0, le=10)
    max_tokens: int | None = Field(default=None, ge=1)
    stream: bool = False


class CheckpointModel:
    """The model of a folder in Hugging Face's format, with its own tokenizer and chat template.

    Raises:
        RequestError: the folder has no such model.
    """

    def __init__(self, folder: Path, *, temperature: float = 0.7, reply_tokens: int = 256, seed: int = 0) -> None:
        torch.set_num_threads(THREADS)
        try:
            self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
            model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, local_files_only=True)
        except (OSError, ValueError) as error:
            raise RequestError(
                f"{folder}: its model cannot be read: {' '.join(trouble(error).split())[:300]}"
            ) from error
        if self._tokenizer.chat_template is None:
            raise RequestError(f"{folder}: its tokenizer has no chat template")
        self._positions: int = model.config.max_position_embeddings
        self._generation = Generation(model, end=self._tokenizer.eos_token_id, seed=seed)
        self._temperature = temperature
        self._reply_tokens = reply_tokens

    async def complete(self, asked: ChatRequest) -> dict[str, Any]:
        """The chat completion of a request. Raises RequestError or ConversationTooLong: it cannot be answered."""
        if asked.stream:
            raise RequestError("this endpoint does not stream")
        prompt = self._rendered(asked)
        room = self._positions - len(prompt)
        if room < 1:
            raise ConversationTooLong(
                f"this model's maximum context length is {self._positions} tokens, and the prompt has {len(prompt)}"
            )
        heat = self._temperature if asked.temperature is None else asked.temperature
        limit = min(asked.max_tokens or self._reply_tokens, room)
        answer = await self._generation.answer(GenerationRequest(prompt, limit, heat))
        text = self._tokenizer.decode(answer.token_ids, skip_special_tokens=True)
        cut = answer.token_ids[-1] != self._tokenizer.eos_token_id
        return completion(asked.model, text, cut=cut, tokens_in=len(prompt), tokens_out=len(answer.token_ids))

    def _rendered(self, asked: ChatRequest) -> list[int]:
        try:
            text = self._tokenizer.apply_chat_template(
                asked.messages, tools=asked.tools or None, tokenize=False, add_generation_prompt=True
            )
        except (TemplateError, TypeError, KeyError, AttributeError) as error:
            raise RequestError(f"the model's chat template does not take these messages: {error}") from error
        return self._tokenizer.encode(text, add_special_tokens=False)


def completion(model: str, text: str, *, cut: bool, tokens_in: int, tokens_out: int) -> dict[str, Any]:
    """A completion. If a call in it cannot be read, all of it is text, as with vLLM."""
    parsed = HERMES.read(text, 0)
    readable = all(not call.malformed for call in parsed.calls)
    message: dict[str, Any] = {"role": "assistant", "content": parsed.text if readable else text}
    if parsed.calls and readable:
        message["tool_calls"] = [
            {
                "id": f"call_{uuid4().hex[:12]}",
                "type": "function",
                "function": {"name": call.tool, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in parsed.calls
        ]
    reason = "length" if cut else "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chatcmpl-{uuid4().hex}",
        "object": "chat.completion",
        "created": int(time.time()),
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {
            "prompt_tokens": tokens_in,
            "completion_tokens": tokens_out,
            "total_tokens": tokens_in + tokens_out,
        },
    }


def endpoint_app(model: CheckpointModel, *, name: str) -> FastAPI:
    """The endpoint. It answers to every name of a model, and lists one."""
    app = FastAPI(openapi_url=None)

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "farm"}]}

    @app.post("/v1/chat/completions")
    async def complete(asked: ChatRequest) -> dict[str, Any]:
        return await model.complete(asked)

    @app.exception_handler(ConversationTooLong)
    async def too_long(_request: Request, error: ConversationTooLong) -> JSONResponse:
        return _refusal(str(error), "context_length_exceeded")

    @app.exception_handler(RequestError)
    async def refused(_request: Request, error: RequestError) -> JSONResponse:
        return _refusal(str(error), None)

    @app.exception_handler(RequestValidationError)
    async def odd(_request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        return _refusal(f"{'.'.join(map(str, first['loc']))}: {first['msg']}", None)

    return app


def _refusal(message: str, code: str | None) -> JSONResponse:
    body = {"message": message, "type": "invalid_request_error", "code": code}
    return JSONResponse({"error": body}, status_code=HTTPStatus.BAD_REQUEST)


async def serve_checkpoint(
    app: FastAPI, port: int, command: Sequence[str], environment: Mapping[str, str], tell: Callable[[str], None]
) -> int:
    """Serve on this machine's loopback, for the length of a command or for ever.

    The command finds the address in OPENAI_BASE_URL. Returns its exit status.

    Raises:
        RequestError: the port is taken, or there is no such command.
    """
    with listen(LOOPBACK, port) as listening:
        url = f"{url_of(listening)}/v1"
        async with serving(app, listening):
            tell(f"The model is served at {url}")
            if not command:
                await asyncio.Event().wait()
            try:
                process = await asyncio.create_subprocess_exec(*command, env={**environment, "OPENAI_BASE_URL": url})
            except OSError as error:
                raise RequestError(f"{command[0]}: cannot be run: {error.strerror}") from error
            try:
                return await process.wait()
            finally:
                if process.returncode is None:
                    process.terminate()
                    await process.wait()
