"""What other users of the machine can see of a farm: nothing. Tokens come by pipes, files and variables."""

import asyncio
import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import connect
from registry.client import FarmClient
from registry.farm import Options, running
from servers.errors import RequestError
from servers.files.private_files import keep_private
from tests.processes import farm, farm_up

TOKEN = "a-control-token-that-nobody-may-see"
NOBODY = 65534
SPY = """
import json, os, pathlib, sys
found, state = [], pathlib.Path(sys.argv[1])
for path in json.load(sys.stdin):
    try:
        found.append([path, open(path, "rb").read().decode("latin-1")])
    except OSError:
        pass
for process in pathlib.Path("/proc").glob("[0-9]*"):
    for name in ("cmdline", "environ"):
        try:
            found.append([str(process / name), (process / name).read_bytes().decode("latin-1")])
        except OSError:
            pass
try:
    os.listdir(state)
    found.append([str(state), "listed"])
except OSError:
    pass
print(json.dumps(found))
"""


def modes(folder: Path) -> dict[str, int]:
    """The mode of a folder and of everything below it, as far as others may do anything with it."""
    every = {str(path): stat.S_IMODE(path.lstat().st_mode) for path in (folder, *folder.rglob("*"))}
    return {path: mode for path, mode in every.items() if mode & 0o077}


def spied(state: Path) -> list[tuple[str, str]]:
    """What another user reads of a state folder and of all processes."""
    told = subprocess.run(
        ["/usr/bin/python3", "-c", SPY, str(state)],
        input=json.dumps([str(path) for path in state.rglob("*")]).encode(),
        user=NOBODY,
        group=NOBODY,
        extra_groups=[],
        cwd="/",
        stdout=subprocess.PIPE,
        check=True,
    )
    return json.loads(told.stdout)


def tracked_by_git(folder: Path, name: str) -> None:
    """Make a folder a git work tree that has a file in its index."""
    for command in (["init", "-q"], ["add", "-f", name]):
        subprocess.run(["git", *command], cwd=folder, check=True)


@pytest.fixture
def common() -> Generator[Path]:
    """A folder that every user can enter, as homes often are."""
    with tempfile.TemporaryDirectory(prefix="farm-common-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.skipif(not Path("/usr/bin/python3").exists(), reason="another user needs a Python that it may run")
async def test_another_user_reads_nothing_and_opens_no_privileged_door(shelf: Path, common: Path) -> None:
    state = common / "state"
    options = ("--library", str(shelf), "--workers", "2", "--port", "0")
    async with farm_up(state, *options, home=common, FARM_TOKEN=TOKEN) as up, FarmClient(up.url, TOKEN) as client:
        leases = await client.launch("shop", count=2)
        secrets = [TOKEN, *(lease.token or "" for lease in leases)]
        found = await asyncio.to_thread(spied, state)
        assert any(path.endswith("cmdline") and "farm" in text for path, text in found)
        assert [path for path, _ in found if path.startswith(str(state))] == []
        assert [path for path, text in found for secret in secrets if secret in text] == []
        urls = [up.url, *(worker.url for worker in (await client.workers()).items)]
        async with httpx.AsyncClient() as stranger:
            for url in urls:
                for path in ("/v1/instances", "/w/ids", "/metrics"):
                    assert (await stranger.post(f"{url}{path}", json={})).status_code in (401, 404, 405)


@pytest.mark.parametrize(("umask", "workers"), [(0o000, 2), (0o777, 1)])
async def test_everything_in_a_state_folder_is_its_owners_alone_whatever_the_umask(
    shelf: Path, tmp_path: Path, umask: int, workers: int
) -> None:
    state = tmp_path / "state"
    before = os.umask(umask)
    try:
        async with (
            running(Options(library=(shelf,), state=state, port=0, workers=workers)) as address,
            FarmClient(address.url, address.token) as client,
        ):
            leases = await client.launch("shop", count=4)
            for lease in leases:
                async with connect(lease.mcp_url or "", lease.token or "") as toolbox:
                    await toolbox.call("price", {"id": "t2", "cents": 1})
            assert modes(state) == {}
            secrets = [address.token, *(lease.token or "" for lease in leases)]
            held = [path for path in state.rglob("*") if path.is_file() and path.name != "token"]
            assert [path for path in held for secret in secrets if secret.encode() in path.read_bytes()] == []
    finally:
        os.umask(before)


async def test_a_state_folder_from_before_is_closed_to_others(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop")
    for path in (options.state, *options.state.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        assert (await client.lease(lease.instance)).token == lease.token
        assert modes(options.state) == {}


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ("touch diary.txt", "holds diary.txt, which is not a farm's"),
        ("touch lock && chmod 777 .", "every user could write into"),
        ("chmod 777 .", "every user could write into"),
        ("ln -s /etc/passwd token", "is a symbolic link"),
        ("chown 65534 .", "belongs to user 65534"),
    ],
)
async def test_a_folder_that_others_had_their_hands_in_is_refused(tmp_path: Path, spoil: str, why: str) -> None:
    folder = tmp_path / "state"
    folder.mkdir()
    folder.chmod(0o755)
    await asyncio.to_thread(subprocess.run, ["sh", "-c", spoil], cwd=folder, check=True)
    before = folder.stat().st_mode
    with pytest.raises(RequestError, match=why):
        async with running(Options(library=(), state=folder, port=0)):
            pass
    if "diary" in why:
        assert folder.stat().st_mode == before


def test_a_folder_that_is_used_by_everybody_is_left_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o1777)
    (tmp_path / "theirs").touch()
    with pytest.raises(RequestError):
        keep_private(tmp_path, re.compile("lock"))
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o1777
    tmp_path.chmod(0o700)


@pytest.mark.slow
async def test_secrets_are_refused_on_the_command_line(shelf: Path, tmp_path: Path) -> None:
    secret = "s3cret-on-show"
    asked = {
        ("up", "--token", secret): "set FARM_TOKEN or give --token-file FILE",
        ("close", "0123456789abcdef", "--token", secret): "set FARM_TOKEN or give --token-file FILE",
        ("up", "--ledger", f"postgresql+psycopg://farm:{secret}@127.0.0.1/farm"): "set FARM_LEDGER to the URL",
        ("up", "--otel", f"http://me:{secret}@127.0.0.1:4318"): "set OTEL_EXPORTER_OTLP_ENDPOINT to the URL",
        ("play", str(shelf / "shop"), "--model", "m", "--api-key", secret): "set OPENAI_API_KEY",
        ("synth", "run", "--api-key", secret): "set OPENAI_API_KEY",
    }
    for arguments, why in asked.items():
        done = await farm(*arguments, home=tmp_path)
        assert (done.code, why in done.err, secret in done.err) == (2, True, False), done


@pytest.mark.slow
async def test_a_ledgers_password_is_in_no_message(tmp_path: Path) -> None:
    for url in (
        "postgresql+psycopg://u:s3cret@127.0.0.1:1/f",
        "postgresql://u:s3cret@h:port/f",
        "mysql://u:s3cret@h/f",
    ):
        done = await farm("up", "--state", "state", "--port", "0", home=tmp_path, FARM_LEDGER=url)
        assert (done.code, "s3cret" in done.err, "Traceback" in done.err) == (1, False, False), done


@pytest.mark.slow
async def test_a_clients_file_with_a_token_is_its_owners_alone_and_kept_out_of_git(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".mcp.json").write_text('{"mine": 1}')
    (tmp_path / ".mcp.json").chmod(0o644)
    async with running(Options(library=(shelf,), state=tmp_path / ".envfarm", port=0)) as address:
        done = await farm("connect", "claude", "shop", "--lease", "--write", home=tmp_path)
        assert (done.code, "added to .gitignore" in done.out) == (0, True), done
        content = json.loads((tmp_path / ".mcp.json").read_text())
        assert content["mine"] == 1
        assert stat.S_IMODE((tmp_path / ".mcp.json").stat().st_mode) == 0o600
        assert (tmp_path / ".gitignore").read_text().splitlines() == ["/.mcp.json"]
        (tmp_path / ".mcp.json").chmod(0o400)
        await farm("connect", "claude", "shop", "--lease", "--write", home=tmp_path)
        assert stat.S_IMODE((tmp_path / ".mcp.json").stat().st_mode) == 0o400
        if shutil.which("git"):
            shutil.rmtree(tmp_path / ".git")
            await asyncio.to_thread(tracked_by_git, tmp_path, ".mcp.json")
            tracked = await farm("connect", "claude", "shop", "--lease", "--write", home=tmp_path)
            assert (tracked.code, "git tracks .mcp.json" in tracked.err) == (2, True)
            async with FarmClient(address.url, address.token) as client:
                assert (await client.leases()).total == 2


async def test_an_agent_whose_lease_is_over_is_told_so(shelf: Path, tmp_path: Path) -> None:
    options = Options(library=(shelf,), state=tmp_path / "state", port=0)
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        [lease] = await client.launch("shop", ttl_seconds=600)
        (tmp_path / "state" / lease.worker / "instances" / f"{lease.instance}.over").touch()
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        again = await client.lease(lease.instance)
        with pytest.raises(FarmUnreachable, match="is over"):
            async with connect(again.mcp_url or "", again.token or "") as toolbox:
                await toolbox.call("find", {})
