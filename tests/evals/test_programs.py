"""Programs and functions of others play, are judged by the state alone, and leave nothing behind."""

import asyncio
import json
import os
import signal
import stat
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from agent_client.events import CallAnswered, EpisodeEnd, EpisodeStart, Event, ModelReply
from agent_client.play import Limits
from evals.programs.agent_task import AgentTask
from evals.programs.agent_walls import landlock_version
from evals.programs.function import AgentFunction
from evals.programs.program import AgentProgram, ProgramLimits, ProgramWalls
from evals.rollout import Rollout, rollout
from registry.client import FarmClient
from registry.farm import private
from servers.errors import InfraError, RequestError
from tests.processes import LONG, started, until

MIB = 1024 * 1024
PLAYS = """
import json, os, signal, socket, subprocess, sys, time, urllib.request


def call(tool, **arguments):
    request = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    headers = {"Authorization": "Bearer " + os.environ["FARM_MCP_TOKEN"], "Content-Type": "application/json"}
    headers["Accept"] = "application/json, text/event-stream"
    asked = urllib.request.Request(os.environ["FARM_MCP_URL"], json.dumps(request).encode(), headers)
    return json.load(urllib.request.urlopen(asked))["result"]


def dearer():
    return call("price", id="t2", cents=250)

"""
needs_walls = pytest.mark.skipif(landlock_version() < 1, reason="this kernel has no Landlock")


class Bench:
    """A farm with a scenario, and a folder for programs."""

    def __init__(self, farm: FarmClient, token: str, folder: Path) -> None:
        self.farm = farm
        self.token = token
        self.folder = folder

    def program(self, text: str, **more: Any) -> AgentProgram:
        """An agent whose program is a piece of Python."""
        script = self.folder / "agent.py"
        script.write_text(PLAYS + text)
        return AgentProgram([sys.executable, "-S", str(script)], name="clerk", **more)

    async def play(self, agent: AgentProgram | AgentFunction, seconds: float = LONG, **more: Any) -> Rollout:
        scenario = await self.farm.scenario("shop", "dearer")
        run = await rollout(self.farm, scenario, agent, limits=Limits(seconds=seconds), with_effects=True, **more)
        assert (await self.farm.leases(status="live")).total == 0
        return run

    def note(self, name: str) -> str:
        """What a program left in a file of this folder."""
        return (self.folder / name).read_text()


@asynccontextmanager
async def bench(shelf: Path, folder: Path) -> AsyncGenerator[Bench]:
    async with private((shelf,)) as address, FarmClient(address.url, address.token) as farm:
        yield Bench(farm, address.token, folder)


def is_removed(folder: str) -> bool:
    return not Path(folder).exists()


def is_gone(pid: int) -> bool:
    """True if a process has ended. One that nobody has collected yet has ended, too."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in ("Z", "X")
    except (FileNotFoundError, ProcessLookupError):
        return True


async def test_a_program_plays_and_its_calls_are_read_from_the_farm(shelf: Path, tmp_path: Path) -> None:
    async with bench(shelf, tmp_path) as at:
        events: list[Event] = []
        text = 'call("price", id="nothing", cents=1)\ndearer()\nprint("working")\nprint("It is done.")'
        run = await at.play(at.program(text), on_event=events.append, seed=3)
        assert (run.outcome, run.reward, run.success, run.error) == ("scored", 1.0, True, "")
        assert run.trace is not None
        assert (run.trace.model, run.trace.answer, run.seed) == ("clerk", "working\nIt is done.", 3)
        assert [(call.tool, call.arguments) for turn in run.trace.turns for call in turn.calls] == [
            ("price", {"id": "nothing", "cents": 1}),
            ("price", {"id": "t2", "cents": 250}),
        ]
        results = [result for turn in run.trace.turns for result in turn.results]
        assert [result.is_error for result in results] == [True, False]
        assert results[1].structured == {"id": "t2", "cents": 250}
        assert run.effects is not None
        assert [len(effect.changes) > 0 for effect in run.effects] == [False, True]
        assert "A thing has a price" in run.trace.instructions
        assert [type(event) for event in events] == [
            EpisodeStart, ModelReply, CallAnswered, ModelReply, CallAnswered, ModelReply, EpisodeEnd,
        ]  # fmt: skip
        assert Rollout.model_validate_json(run.model_dump_json()) == run


async def test_a_program_is_told_its_task_and_nothing_of_the_farm(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FARM_TOKEN", "the farm's own")
    monkeypatch.setenv("MODEL_KEY", "the agent's own")
    text = f"""
folder = os.environ["FARM_FOLDER"]
files = {{name: open(os.path.join(folder, name)).read() for name in sorted(os.listdir(folder))}}
told = {{"variables": dict(os.environ), "files": files, "mode": os.stat(folder).st_mode, "input": sys.stdin.read()}}
json.dump(told, open({str(tmp_path / "told.json")!r}, "w"))
open(os.environ["FARM_ANSWER_FILE"], "w").write("From the file.")
print("From the output.")
"""
    async with bench(shelf, tmp_path) as at:
        run = await at.play(at.program(text))
        told: dict[str, Any] = json.loads(at.note("told.json"))
        task = (await at.farm.scenario("shop", "dearer")).scenario.task
        assert run.trace is not None
        assert run.trace.answer == "From the file."
        variables = told["variables"]
        assert sorted(name for name in variables if name.startswith("FARM_")) == [
            "FARM_ANSWER_FILE", "FARM_ENVIRONMENT", "FARM_FOLDER", "FARM_INSTRUCTIONS_FILE", "FARM_MCP_CONFIG",
            "FARM_MCP_TOKEN", "FARM_MCP_URL", "FARM_SECONDS", "FARM_TASK", "FARM_TASK_FILE",
        ]  # fmt: skip
        assert (variables["FARM_TASK"], told["files"]["task.txt"], told["input"]) == (task, task, "")
        assert (variables["FARM_SECONDS"], variables["MODEL_KEY"]) == (f"{LONG:g}", "the agent's own")
        [server] = json.loads(told["files"]["mcp.json"])["mcpServers"].values()
        assert server["url"] == variables["FARM_MCP_URL"]
        assert server["headers"] == {"Authorization": f"Bearer {variables['FARM_MCP_TOKEN']}"}
        assert stat.S_IMODE(told["mode"]) == 0o700
        assert at.token not in json.dumps(told)
        assert "dearer" not in json.dumps(told), "the scenario's id may tell what it is about"
        assert is_removed(variables["FARM_FOLDER"])


@pytest.mark.parametrize(
    ("text", "seconds", "outcome", "reward", "said"),
    [
        ("dearer(); time.sleep(3600)", 2.0, "timeout", 1.0, "not finished after 2 s"),
        ("dearer(); print('no', file=sys.stderr); sys.exit(1)", LONG, "agent_error", 1.0, "exit code 1: no"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", LONG, "agent_error", 0.0, "signal 11"),
        ("sys.exit(75)", LONG, "infra_error", None, "exit code 75"),
        ("sys.exit(127)", LONG, "infra_error", None, "cannot be started (exit code 127)"),
        ("while True: print('x' * 65536)", LONG, "agent_error", 0.0, "it wrote more than 64 MiB"),
        ("held = bytearray(200 << 20); time.sleep(3600)", LONG, "agent_error", 0.0, "more than 100 MiB of memory"),
        ("os.kill(os.getppid(), signal.SIGKILL); time.sleep(3600)", LONG, "agent_error", 0.0, "watches over it"),
        (
            "while True:\n if not os.fork(): time.sleep(3600)",
            LONG,
            "agent_error",
            0.0,
            "it had more than 20 processes",
        ),
    ],
    ids=["hangs", "exits 1", "crashes", "gives up", "is not found", "floods", "hoards", "kills its parent", "forks"],
)
async def test_a_program_that_goes_wrong_is_the_agents_doing(
    shelf: Path, tmp_path: Path, text: str, seconds: float, outcome: str, reward: float | None, said: str
) -> None:
    async with bench(shelf, tmp_path) as at:
        own = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        limits = ProgramLimits(processes=20, memory=(100 if "held" in text else 4096) * MIB)
        run = await at.play(at.program(own + text, limits=limits), seconds)
        assert (run.outcome, run.reward) == (outcome, reward), run.error
        assert said in run.error
        assert is_gone(int(at.note("pid")))


async def test_what_a_program_leaves_running_is_ended_and_no_longer_counts(shelf: Path, tmp_path: Path) -> None:
    """It forks, leaves its session, and goes on with calls that would spoil the state."""
    text = f"""
dearer()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
        while True:
            time.sleep(0.01)
            call("price", id="t2", cents=1) if os.path.exists({str(tmp_path / "go")!r}) else None
    os._exit(0)
while not os.path.exists({str(tmp_path / "pid")!r}) or not open({str(tmp_path / "pid")!r}).read():
    time.sleep(0.01)
print("Done.")
"""
    async with bench(shelf, tmp_path) as at:
        run = await at.play(at.program(text))
        (tmp_path / "go").touch()
        assert (run.outcome, run.reward) == ("scored", 1.0)
        assert is_gone(int(at.note("pid")))


async def test_calls_after_the_end_are_refused_and_no_longer_count(shelf: Path, tmp_path: Path) -> None:
    """Somebody else, whom nobody can end, has the URL and the token."""
    refused = threading.Event()

    def cheaper(task: AgentTask) -> None:
        asked: dict[str, object] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        asked["params"] = {"name": "price", "arguments": {"id": "t2", "cents": 250}}
        headers = {"Authorization": f"Bearer {task.token}", "Accept": "application/json, text/event-stream"}
        headers["Content-Type"] = "application/json"
        request = urllib.request.Request(task.url, json.dumps(asked).encode(), headers)  # noqa: S310
        while True:
            try:
                urllib.request.urlopen(request, timeout=LONG).read()  # noqa: S310
            except OSError as error:
                if isinstance(error, urllib.error.HTTPError):
                    error.close()
                refused.set()
                return
            time.sleep(0.001)

    def agent(task: AgentTask) -> str:
        threading.Thread(target=cheaper, args=[task], daemon=True).start()
        return "Done."

    async with bench(shelf, tmp_path) as at:
        run = await at.play(AgentFunction(agent))
        assert run.outcome == "scored"
        assert await asyncio.to_thread(refused.wait, LONG)
        assert run.trace is not None
        assert run.score is not None
        assert run.trace.calls == run.score.calls, "judged and recorded at one moment"


async def test_a_program_that_edits_its_config_changes_its_own_alone(shelf: Path, tmp_path: Path) -> None:
    text = f"""
path = os.environ["FARM_MCP_CONFIG"]
with open({str(tmp_path / "seen")!r}, "a") as seen:
    seen.write(str(json.load(open(path)).get("spoiled")) + " ")
open(path, "w").write('{{"spoiled": true}}')
os.symlink("/etc/passwd", os.environ["FARM_ANSWER_FILE"])
dearer()
"""
    async with bench(shelf, tmp_path) as at:
        agent = at.program(text)
        first, second = await at.play(agent), await at.play(agent)
        assert (first.reward, second.reward) == (1.0, 1.0)
        assert first.trace is not None
        assert first.trace.answer == "", "a link is not followed"
        assert at.note("seen").split() == ["None", "None"]


def test_a_task_that_no_variable_holds_is_in_its_file(tmp_path: Path) -> None:
    for task, is_short in (("é" * 50_000, True), ("é" * 50_001, False)):
        told = AgentTask("shop", "http://x", "token", task, "", (), 60.0).write_into(tmp_path)
        assert Path(told["FARM_TASK_FILE"]).read_text(encoding="utf-8") == task
        assert told["FARM_TASK"] == (task if is_short else f"The task is in the file {told['FARM_TASK_FILE']}")


async def test_the_end_of_a_long_answer_counts(shelf: Path, tmp_path: Path) -> None:
    async with bench(shelf, tmp_path) as at:
        run = await at.play(at.program("print('x' * 1_000_000); sys.stdout.buffer.write(b'\\xff the end')"))
        assert run.trace is not None
        assert run.trace.answer.endswith("x\n\ufffd the end")
        assert len(run.trace.answer.encode()) <= 256 * 1024 + 2


async def test_a_cancelled_program_is_ended(shelf: Path, tmp_path: Path) -> None:
    async with bench(shelf, tmp_path) as at:
        text = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\ntime.sleep(3600)"
        playing = asyncio.create_task(at.play(at.program(text)))
        while not (tmp_path / "pid").exists() or not at.note("pid"):  # noqa: ASYNC110 - a process tells by a file
            await asyncio.sleep(0.01)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing
        assert is_gone(int(at.note("pid")))
        assert (await at.farm.leases(status="live")).total == 0


async def test_a_text_is_a_command_of_the_shell(shelf: Path, tmp_path: Path) -> None:
    async with bench(shelf, tmp_path) as at:
        run = await at.play(AgentProgram('printf %s "$FARM_TASK" | tr a-z A-Z'))
        assert run.trace is not None
        assert (run.trace.model, run.trace.answer) == ("printf", run.trace.task.upper())


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "command is empty"),
        ([], "command is empty"),
        ("no-such-agent --now", "'no-such-agent' is not found"),
        (["no-such-agent"], "'no-such-agent' is not found"),
    ],
)
def test_a_command_that_cannot_be_run_is_refused_at_once(command: str | list[str], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        AgentProgram(command)


async def test_a_program_that_vanishes_is_no_zero(tmp_path: Path) -> None:
    script = tmp_path / "agent"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    agent = AgentProgram([str(script)])
    script.unlink()
    task = AgentTask("shop", "http://127.0.0.1:1/", "token", "Do it.", "", (), LONG)
    with pytest.raises(InfraError, match="cannot be started"):
        await agent.work(task)


@needs_walls
async def test_behind_walls_a_program_plays_and_reads_no_secret(
    shelf: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It reaches no state of a farm, no memory and no variables of ours, and writes into its own folder alone."""
    tools, secrets = tmp_path / "tools", tmp_path / "secrets"
    tools.mkdir()
    secrets.mkdir()
    (secrets / "token").write_text("control")
    text = f"""
tried = {{}}
def attempt(name, action):
    try:
        action()
        tried[name] = "done"
    except OSError as error:
        tried[name] = "refused"
attempt("own scratch", lambda: open(os.path.join(os.environ["HOME"], "scratch"), "w"))
attempt("own program", lambda: open(__file__).read())
attempt("secret", lambda: open({str(secrets / "token")!r}).read())
attempt("list", lambda: os.listdir({str(secrets)!r}))
attempt("write", lambda: open({str(tools / "more")!r}, "w"))
attempt("variables", lambda: open("/proc/{os.getpid()}/environ").read())
attempt("memory", lambda: open("/proc/{os.getpid()}/mem").read())
attempt("signal", lambda: os.kill({os.getpid()}, 0))
dearer()
print(json.dumps(tried))
"""
    async with bench(shelf, tools) as at:
        run = await at.play(at.program(text, walls=ProgramWalls((tools,), (secrets,))))
    assert (run.outcome, run.reward) == ("scored", 1.0), run.error
    assert run.trace is not None
    tried: dict[str, str] = json.loads(run.trace.answer)
    done = [name for name, what in tried.items() if what == "done"]
    assert done == ["own scratch", "own program", *(["signal"] if landlock_version() < 6 else [])]


@needs_walls
async def test_behind_walls_an_episode_leaves_nothing_for_the_next(shelf: Path, tmp_path: Path) -> None:
    """Of the devices it has those that keep nothing. Its temporary files are in its own folder."""
    left = [Path(folder) / f"left-{os.getpid()}" for folder in ("/dev", "/dev/shm", "/tmp", "/var/tmp")]
    text = f"""
import ctypes, tempfile
done = []
def attempt(name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass
for place in {[str(place) for place in left]!r}:
    attempt(place, lambda: open(place, "w"))
    attempt(place, lambda: os.mkfifo(place))
kernel = ctypes.CDLL(None, use_errno=True)
def made(name, *arguments):
    if getattr(kernel, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)
attempt("shmget", lambda: made("shmget", 13, 4096, 0o1600))
attempt("semget", lambda: made("semget", 13, 1, 0o1600))
attempt("msgget", lambda: made("msgget", 13, 0o1600))
attempt("mq_open", lambda: made("mq_open", b"/left", 0o102, 0o600, None))
attempt("add_key", lambda: made("syscall", 248, b"user", b"left", b"x", 1, -4))
attempt("null", lambda: open("/dev/null", "w").write("x"))
attempt("random", lambda: open("/dev/urandom", "rb").read(8))
attempt("shell", lambda: subprocess.run("echo > /dev/null 2>&1 < /dev/null", shell=True, check=True))
attempt("temporary", lambda: tempfile.TemporaryFile().write(b"x"))
attempt("terminals", lambda: open("/dev/ptmx", "w"))
dearer()
print(json.dumps(done + [tempfile.gettempdir() == os.environ["FARM_FOLDER"]]))
"""
    async with bench(shelf, tmp_path) as at:
        run = await at.play(at.program(text, walls=ProgramWalls((tmp_path,))))
    assert not [place for place in left if place.exists()]
    assert run.trace is not None
    assert json.loads(run.trace.answer) == ["null", "random", "shell", "temporary", True], run.error


async def test_a_farm_eval_that_is_told_to_end_deletes_what_its_agent_had(shelf: Path, tmp_path: Path) -> None:
    """A SIGTERM, which a shell's `kill` sends, is taken as Ctrl-C."""
    temporary, note = tmp_path / "temporary", tmp_path / "note"
    temporary.mkdir()
    agent = f'echo "$FARM_FOLDER" > {note}.part; mv {note}.part {note}; sleep 1000'
    one = await started(
        *("eval", "--agent", agent, "--library", shelf, "--environment", "shop", "--scenario", "dearer"),
        *("--out", "run"),
        home=tmp_path,
        TMPDIR=str(temporary),
    )
    await until(note.exists, "the agent has its folder")
    assert Path(note.read_text().strip()).parent == temporary
    one.send(signal.SIGTERM)
    done = await one.ended()
    assert (done.code, "interrupted" in done.err, "Traceback" in done.err) == (130, True, False), done.err
    assert list(temporary.glob("farm-*")) == []


@needs_walls
def test_walls_never_open_a_folder_with_a_control_token(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    walls = ProgramWalls((tmp_path,), (tmp_path / "state",))
    with pytest.raises(RequestError, match="contains the state of a farm"):
        AgentProgram("true", walls=walls)
    for name in ("token", "ledger.db"):
        (tmp_path / "state" / name).touch()
    with pytest.raises(RequestError, match="contains the state of a farm"):
        AgentProgram("true", walls=ProgramWalls((tmp_path,)))
    with pytest.raises(RequestError, match="nowhere is not there"):
        AgentProgram("true", walls=ProgramWalls((tmp_path / "nowhere",)))


def fails(task: AgentTask) -> str:
    raise ValueError("I cannot do this")


def sleeps(task: AgentTask) -> str:
    time.sleep(LONG)
    return ""


def says_a_number(task: AgentTask) -> str:
    number: Any = 3
    return number


@pytest.mark.parametrize(
    ("function", "seconds", "outcome", "said"),
    [
        (fails, LONG, "agent_error", "ValueError: I cannot do this"),
        (sleeps, 0.2, "timeout", "not finished after 0.2 s"),
        (says_a_number, LONG, "agent_error", "returned int, and not its last words"),
    ],
)
async def test_a_function_that_goes_wrong_is_the_agents_doing(
    shelf: Path, tmp_path: Path, function: Callable[[AgentTask], str], seconds: float, outcome: str, said: str
) -> None:
    async with bench(shelf, tmp_path) as at:
        run = await at.play(AgentFunction(function), seconds)
        assert (run.outcome, run.reward) == (outcome, 0.0)
        assert said in run.error
