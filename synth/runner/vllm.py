"""A vLLM server as a child process: started, awaited, and stopped with its user."""

import asyncio
import os
import shutil
import signal
import socket
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path

import httpx2

from servers.errors import FarmError, RequestError

LOADING_SECONDS = 3600.0  # a large model is fetched and loaded before it answers
STOPPING_SECONDS = 30.0
BETWEEN_LOOKS = 0.5
LOG_LINES = 15


class ServingError(FarmError):
    """vLLM does not serve the model. The message has the end of its log."""


@asynccontextmanager
async def serving_vllm(model: str, log: Path, arguments: Sequence[str] = ()) -> AsyncGenerator[str]:
    """Run `vllm serve MODEL` on a free port of this machine. Yields its base URL once it is healthy.

    Raises RequestError if vLLM is not installed, or ServingError.
    """
    program = shutil.which("vllm")
    if program is None:
        raise RequestError("--serve-vllm: no `vllm` on the PATH; where a GPU is: pip install 'envfarm[rl-gpu]'")
    port = _free_port()
    with log.open("ab") as file:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "servers.limits.parent_death", str(os.getpid())),
            *(program, "serve", model, "--host", "127.0.0.1", "--port", str(port), *arguments),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,  # Ctrl-C is for us; and its own children end with it
        )
    try:
        await _healthy(process, port, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        await _stop(process)


async def _healthy(process: asyncio.subprocess.Process, port: int, log: Path) -> None:
    try:
        async with asyncio.timeout(LOADING_SECONDS), httpx2.AsyncClient() as http:
            while process.returncode is None:
                with suppress(httpx2.RequestError):
                    if (await http.get(f"http://127.0.0.1:{port}/health")).status_code == HTTPStatus.OK:
                        return
                with suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), BETWEEN_LOOKS)
    except TimeoutError:
        raise ServingError(f"vllm is not healthy after {LOADING_SECONDS:g} s; see {log}") from None
    raise ServingError(f"vllm ended with exit code {process.returncode}; {log} ends with:\n{_end_of(log)}")


def _end_of(log: Path) -> str:
    return "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-LOG_LINES:])


async def _stop(process: asyncio.subprocess.Process) -> None:
    """End it and its children."""
    for number, seconds in ((signal.SIGTERM, STOPPING_SECONDS), (signal.SIGKILL, None)):
        if process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        with suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), seconds)


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port
