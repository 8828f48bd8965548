"""Trainer and farm on different hosts: one URL and one token are all that the trainer's side has, and it is light.

The hosts are network namespaces, joined by a cable and by nothing else.
"""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.processes import LONG, Done, farm_up

ROOT = Path(__file__).parents[2]
FARM, TRAINER = "192.0.2.1", "192.0.2.2"  # of RFC 5737: addresses that no network has
PORT = 8700
TOKEN = "the token of this test"
HEAVY = {
    "alembic", "apsw", "docstring_parser", "fastapi", "jsonschema_rs", "mcp", "prometheus_client", "rich",
    "sqlalchemy", "starlette", "typer", "uvicorn", "uvloop",
}  # fmt: skip
"""What only a farm needs."""
IMPORTS = (
    "import rl_training.episode.attempt, rl_training.episode.farm_connection, sys; "
    "print(*{name.partition('.')[0] for name in sys.modules})"
)


class Hosts(NamedTuple):
    """What runs a program on a host, as the head of its command."""

    farm: tuple[str, ...]
    trainer: tuple[str, ...]


@contextmanager
def two_hosts() -> Generator[Hosts]:
    """Two hosts that reach each other, and nobody else."""
    names = [f"farm-test-{os.getpid()}-{side}" for side in ("a", "b")]
    with ExitStack() as stack:
        for name in names:
            _ip("netns", "add", name)
            stack.callback(_ip, "netns", "delete", name)
        _ip("link", "add", "cable", "netns", names[0], "type", "veth", "peer", "name", "cable", "netns", names[1])
        for name, address in zip(names, (FARM, TRAINER), strict=True):
            _ip("-n", name, "address", "add", f"{address}/24", "dev", "cable")
            _ip("-n", name, "link", "set", "cable", "up")
            _ip("-n", name, "link", "set", "lo", "up")
        yield Hosts(*(("ip", "netns", "exec", name) for name in names))


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, timeout=LONG)


def _why_not() -> str:
    """Why there can be no such hosts here; nothing if there can."""
    if shutil.which("ip") is None:
        return "needs the program `ip` (iproute2)"
    try:
        with two_hosts():
            return ""
    except subprocess.CalledProcessError as error:
        return f"network namespaces cannot be made here: {error.stderr.decode().strip()}"


@pytest.fixture
def hosts() -> Generator[Hosts]:
    if why := _why_not():
        pytest.skip(why)
    with two_hosts() as made:
        yield made


async def trainer(url: str, *, launcher: tuple[str, ...], token: str = TOKEN) -> Done:
    """What the trainer's side leaves."""
    process = await asyncio.create_subprocess_exec(
        *launcher,
        sys.executable,
        "-m",
        "tests.rl_training.remote_trainer",
        url,
        cwd=ROOT,
        env={"PATH": os.defpath, "LANG": "C.UTF-8", "FARM_TOKEN": token},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LONG):
        out, err = await process.communicate()
    return Done(process.returncode or 0, out.decode(), err.decode())


@pytest.mark.parametrize(
    ("options", "url"),
    [
        (("--host", FARM), f"http://{FARM}:{PORT}"),
        (("--host", "0.0.0.0", "--public-host", FARM, "--workers", "2"), f"http://{FARM}:{PORT}"),  # noqa: S104
    ],
)
async def test_a_trainer_on_another_host_needs_one_url_and_one_token(
    hosts: Hosts, shelf: Path, tmp_path: Path, options: tuple[str, ...], url: str
) -> None:
    state = tmp_path / "state"
    (tmp_path / "token").write_text(TOKEN)
    arguments = ("--library", str(shelf), "--port", str(PORT), "--token-file", str(tmp_path / "token"), *options)
    async with farm_up(state, *arguments, home=tmp_path, launcher=hosts.farm) as farm:
        assert farm.url == url
        done = await trainer(url, launcher=hosts.trainer)
        assert done.code == 0, done.err
        told = json.loads(done.out)
        assert (told["rewards"], told["calls"], told["left"]) == ([1.0] * 8, [2] * 8, 0)
        assert HEAVY & set(told["modules"]) == set()
        refused = await trainer(url, launcher=hosts.trainer, token="another")
        assert (refused.code, "token" in refused.err) == (1, True)
        astray = await trainer(f"http://127.0.0.1:{PORT}", launcher=hosts.trainer)
        assert (astray.code, "no farm answers at http://127.0.0.1:8700" in astray.err) == (1, True)


async def test_a_farm_that_listens_everywhere_says_that_leases_need_a_name(hosts: Hosts, tmp_path: Path) -> None:
    arguments = ("--host", "0.0.0.0", "--port", str(PORT))  # noqa: S104
    async with farm_up(tmp_path / "state", *arguments, home=tmp_path, launcher=hosts.farm) as farm:
        said = (await farm.started.out.readline()).decode()
        assert said == "Leases name 127.0.0.1, where only this machine finds them; others need --public-host.\n"


def test_the_trainers_side_brings_nothing_that_only_a_farm_needs() -> None:
    told = subprocess.run([sys.executable, "-c", IMPORTS], cwd=ROOT, capture_output=True, text=True, check=True)
    modules = set(told.stdout.split())
    assert HEAVY & modules == set()
    assert {"rl_training", "agent_client", "registry", "httpx2"} <= modules
