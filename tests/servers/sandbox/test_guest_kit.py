"""Everything that hostile tool code tries in a guest comes to a harmless error, as root and as an ordinary user."""

import asyncio
import json
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import AsyncGenerator, Generator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.guest.walls import WALLS
from tests.processes import LONG, Done
from tests.servers.guest_kit import ATTEMPTS, Kit, kit
from tests.told import history_of

ROOT = Path(__file__).parents[3]
NOBODY = 65534


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def prepared(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Kit]:
    async with kit(tmp_path_factory.mktemp("kit")) as prepared:
        yield prepared


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("number", range(len(ATTEMPTS)), ids=[attempt.name for attempt in ATTEMPTS])
async def test_hostile_code_comes_to_a_harmless_error(prepared: Kit, number: int) -> None:
    """The farm lives, other instances answer as before, nothing was read, written, reached or left behind."""
    attempt = ATTEMPTS[number]
    if not prepared.holds(attempt):
        pytest.skip(f"none of these walls stands here: {', '.join(attempt.held_by)}")
    _, harms = await prepared.tried(number)
    assert harms == []


@pytest.mark.asyncio(loop_scope="module")
async def test_the_history_of_a_hostile_guest_can_be_read(prepared: Kit) -> None:
    calls = await history_of(prepared.worker, prepared.attacker, limit=1000)
    assert len(calls) >= len(ATTEMPTS) // 2
    for call in calls:
        call.model_dump_json()


@pytest.fixture
def theirs() -> Generator[Path]:
    """A folder of an ordinary user's. Not below pytest's own, which each pytest that starts closes to others again."""
    with tempfile.TemporaryDirectory() as folder:
        os.chown(folder, NOBODY, NOBODY)
        yield Path(folder)


async def test_an_ordinary_user_keeps_all_walls_but_the_one_that_needs_root(theirs: Path) -> None:
    if os.geteuid() != 0 or shutil.which("setpriv") is None:
        pytest.skip("only root can become another user, with setpriv")
    folder = theirs
    python = await their_python(folder)
    if python is None:
        pytest.skip("there is no Python here that an ordinary user may run")
    done = await as_nobody(python, "-m", "tests.servers.guest_kit", folder / "kit")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["user"] == NOBODY
    assert found["harms"] == {}
    assert set(found["walls"]) >= set(WALLS) - {"uid"}
    assert found["skipped"] == []
    assert found["required"].startswith("these walls cannot be raised on this machine: uid; `farm doctor` says more")


async def their_python(folder: Path) -> Path | None:
    """A virtual environment of an ordinary user's with the packages of this one."""
    system = shutil.which(f"python{sys.version_info.major}.{sys.version_info.minor}", path=os.defpath)
    if system is None:
        return None
    await as_nobody(Path(system), "-m", "venv", "--without-pip", folder / "venv")
    for packages in (folder / "venv").glob("lib/*/site-packages"):
        (packages / "ours.pth").write_text(f"{sysconfig.get_path('purelib')}\n{ROOT}\n")
    python = folder / "venv" / "bin" / "python"
    done = await as_nobody(python, "-c", "import apsw, servers")
    return python if done.code == 0 else None


async def as_nobody(*command: str | Path) -> Done:
    process = await asyncio.create_subprocess_exec(
        *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--inh-caps=-all"),
        *command,
        cwd=ROOT,
        env={"PATH": os.defpath, "LANG": "C.UTF-8"},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(LONG):
        out, err = await process.communicate()
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())
