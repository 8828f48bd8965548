"""An agent that is a program: any command that plays over MCP with a URL and a token, and says something last.

What it did is read from the farm's history, and what it is worth from the state. Of the program itself only its last
words count, and how it ended.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_client.play import EpisodeEnding
from evals.programs.agent_task import ANSWER_FILE, AgentTask
from evals.programs.agent_walls import landlock_version
from servers.errors import InfraError, RequestError
from servers.files.private_files import regular
from servers.files.scratch_folder import scratch_folder
from servers.files.trouble import trouble

MIB = 1024 * 1024
LONGEST_ANSWER = 256 * 1024
"""Bytes of last words: the end of what a program writes counts."""
MOST_OUTPUT = 64 * MIB
"""Bytes of output and errors after which a program is ended."""
PIECE = 64 * 1024
TOLD = 2_000
"""Bytes of a failed program's errors that are looked at for a reason."""
TRY_AGAIN = 75
"""The exit code (EX_TEMPFAIL) by which a program says that its model's endpoint broke, and not the agent."""
NOT_STARTED = (126, 127)
"""The exit codes of a shell that may not execute a program, or does not find it."""
STATE_FILES = ("token", "ledger.db")
"""What a farm's state folder has."""
SHELL = "/bin/sh"
PLAIN_WORD = re.compile(r"[\w./+-]+")
SUPERVISOR = (sys.executable, "-s", "-P", "-m", "evals.programs.supervisor")
END_SECONDS = 30.0


@dataclass(frozen=True)
class ProgramLimits:
    """What a program may take beside its time: processes, and bytes of memory of all of them together."""

    processes: int = 256
    memory: int = 8192 * MIB


@dataclass(frozen=True)
class ProgramWalls:
    """The folders that a program may read, beside those of the system. It writes into its own alone."""

    read: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    """Folders with control tokens somewhere in them. No readable folder may contain one."""

    def readable(self) -> list[str]:
        """All folders that it may read.

        Raises:
            RequestError: one that was named is not there, or holds a farm's control token.
        """
        for folder in self.read:
            if not folder.exists():
                raise RequestError(f"the walls of the agent: {folder} is not there")
            if self._tells(folder):
                raise RequestError(
                    f"the walls of the agent: {folder.resolve()} contains the state of a farm, with its control token; "
                    "start in another folder, or name smaller ones"
                )
        places = (Path(place) for place in (*_programs(), sys.prefix, sys.base_prefix))
        return [str(place.resolve()) for place in (*self.read, *places) if not self._tells(place)]

    def _tells(self, folder: Path) -> bool:
        whole = folder.resolve()
        states = (whole, *(place for place in whole.iterdir() if place.is_dir())) if whole.is_dir() else ()
        return any(whole in (hidden, *hidden.parents) for hidden in (one.resolve() for one in self.hidden)) or any(
            all((state / name).exists() for name in STATE_FILES) for state in states
        )


class AgentProgram:
    """Plays by starting a command: a text for the shell, or the words of one program.

    The program starts in this process's working folder, with this process's variables except those of the farm. It gets
    the variables of `AgentTask`. When it ends, all that it has started ends.

    Raises:
        RequestError: the command is empty or not found, or the walls cannot be raised here.
    """

    def __init__(
        self,
        command: str | Sequence[str],
        *,
        name: str = "",
        walls: ProgramWalls | None = None,
        limits: ProgramLimits | None = None,
    ) -> None:
        words = command.split() if isinstance(command, str) else list(command)
        if not words:
            raise RequestError("the agent's command is empty")
        self.name = name or Path(words[0]).name
        self._command = [SHELL, "-c", command] if isinstance(command, str) else words
        self._limits = limits or ProgramLimits()
        self._readable = None if walls is None else walls.readable()
        if not (_shell_knows(words[0]) if isinstance(command, str) else shutil.which(words[0])):
            raise RequestError(f"the agent's program {words[0]!r} is not found; is it on PATH, and may it be executed?")
        if walls is not None and landlock_version() < 1:
            raise RequestError("walls around an agent need Landlock (Linux 5.13), which this kernel does not have")

    async def work(self, task: AgentTask) -> EpisodeEnding:
        """Run the program once, to its end or to the end of its time.

        Raises:
            InfraError: it cannot be started.
        """
        scratch = ExitStack()
        try:
            folder = await asyncio.to_thread(scratch.enter_context, scratch_folder("agent"))
            return await self._run(task, folder)
        except OSError as error:
            raise InfraError(f"the agent's program cannot be started: {trouble(error)}") from None
        finally:
            await asyncio.to_thread(scratch.close)  # it may have left very many files

    async def _run(self, task: AgentTask, folder: Path) -> EpisodeEnding:
        home = {} if self._readable is None else {"HOME": str(folder), "TMPDIR": str(folder)}
        order = {
            "command": self._command,
            "environment": {**task.write_into(folder), **home},
            "walls": None if self._readable is None else {"read": self._readable, "write": [str(folder)]},
            "processes": self._limits.processes,
            "memory": self._limits.memory,
        }
        run = _ProgramRun(order)
        await run.start()
        try:
            end = await run.ended(task.seconds)
        finally:
            await run.stop()
        if "not_started" in end:
            raise InfraError(f"the agent's program {self._command[0]} cannot be started: {end['not_started']}")
        return _ending(end, run, folder / ANSWER_FILE, task.seconds)


class _ProgramRun:
    """One supervised run: what it has written so far, and how it ended."""

    def __init__(self, order: dict[str, Any]) -> None:
        self._order = order
        self.said = _LastBytes(LONGEST_ANSWER)
        self.complained = _LastBytes(TOLD)
        self._written = 0
        self._too_much = asyncio.Event()

    async def start(self) -> None:
        self._end, tells = os.pipe()
        try:
            self._process = await asyncio.create_subprocess_exec(
                *SUPERVISOR,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                pass_fds=[tells],
                start_new_session=True,
            )
        except BaseException:
            os.close(self._end)
            raise
        finally:
            os.close(tells)
        out, errors, order = self._process.stdout, self._process.stderr, self._process.stdin
        if out is None or errors is None or order is None:
            raise InfraError("the process around an agent has no pipes")
        self._input = order
        self._reading = [
            asyncio.create_task(self._read(stream, into))
            for stream, into in ((out, self.said), (errors, self.complained))
        ]
        order.write(json.dumps({**self._order, "tells": tells}).encode() + b"\n")

    async def ended(self, seconds: float) -> dict[str, Any]:
        """Wait for its end, and return what the supervisor tells of it."""
        flooded = asyncio.create_task(self._too_much.wait())
        waiting = asyncio.create_task(self._process.wait())
        try:
            await asyncio.wait({flooded, waiting}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            flooded.cancel()
            waiting.cancel()
        if self._too_much.is_set():
            return {"limit": f"it wrote more than {MOST_OUTPUT // MIB} MiB"}
        if self._process.returncode is None:
            return {"late": True}
        told = os.read(self._end, PIECE)
        return json.loads(told) if told else {"limit": "it ended the process that watches over it"}

    async def stop(self) -> None:
        """End all that it has started, and wait until that is done, also if this is cancelled meanwhile."""
        stopping = asyncio.create_task(self._stop())
        try:
            await asyncio.shield(stopping)
        except asyncio.CancelledError:
            await stopping
            raise

    async def _stop(self) -> None:
        self._input.close()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
                await asyncio.gather(*self._reading)
        except TimeoutError:
            self._process.kill()
            for reading in self._reading:
                reading.cancel()
            await self._process.wait()
        os.close(self._end)

    async def _read(self, stream: asyncio.StreamReader, into: "_LastBytes") -> None:
        while piece := await stream.read(PIECE):
            into.add(piece)
            self._written += len(piece)
            if self._written > MOST_OUTPUT:
                self._too_much.set()


class _LastBytes:
    """The last bytes of a stream, a bounded number of them."""

    def __init__(self, most: int) -> None:
        self._pieces = deque[bytes]()
        self._size = 0
        self._most = most

    def add(self, piece: bytes) -> None:
        """Append some, and forget what is no longer among the last."""
        self._pieces.append(piece)
        self._size += len(piece)
        while self._size - len(self._pieces[0]) >= self._most:
            self._size -= len(self._pieces.popleft())

    @property
    def text(self) -> str:
        return b"".join(self._pieces)[-self._most :].decode(errors="replace").strip()


def _ending(end: dict[str, Any], run: _ProgramRun, answer: Path, seconds: float) -> EpisodeEnding:
    """How an episode ended, by how its program did."""
    why = f": {run.complained.text.splitlines()[-1][:300]}" if run.complained.text else ""
    match end:
        case {"exit": 0}:
            return EpisodeEnding("finished", _answer(answer) or run.said.text)
        case {"exit": code} if code == TRY_AGAIN:
            return EpisodeEnding("infra_error", f"the agent's program gave up with exit code {TRY_AGAIN}{why}")
        case {"exit": code} if code in NOT_STARTED:
            return EpisodeEnding("infra_error", f"the agent's program cannot be started (exit code {code}){why}")
        case {"exit": code}:
            how = f"exit code {code}" if code >= 0 else f"signal {-code}"
            return EpisodeEnding("agent_error", f"the agent's program ended with {how}{why}")
        case {"limit": limit}:
            return EpisodeEnding("agent_error", f"the agent's program was ended: {limit}")
        case _:
            return EpisodeEnding("time_limit", f"not finished after {seconds:g} s")


def _answer(path: Path) -> str:
    """The last words that a program left in its file. Empty if there is no regular file."""
    with suppress(OSError, ValueError), os.fdopen(regular(path, os.O_RDONLY), "rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - LONGEST_ANSWER))
        return file.read(LONGEST_ANSWER).decode(errors="replace").strip()
    return ""


def _shell_knows(word: str) -> bool:
    """True if a shell can run the first word of a command, or if it is more than a word."""
    if not PLAIN_WORD.fullmatch(word):
        return True
    if "/" in word:  # some shells say that they know a file which nobody may execute
        return shutil.which(word) is not None
    asking = [SHELL, "-c", 'command -v -- "$0"', word]
    return subprocess.run(asking, capture_output=True, check=False, timeout=END_SECONDS).returncode == 0


def _programs() -> Iterator[str]:
    """The folders of programs on PATH; of a folder `bin` also what it belongs to, where its libraries are."""
    for entry in os.get_exec_path():
        place = Path(entry).resolve()
        yield str(place.parent if place.name == "bin" and place.parent != Path.home() else place)
