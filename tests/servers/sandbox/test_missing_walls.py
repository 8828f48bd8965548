"""A machine whose kernel has neither Landlock nor seccomp: what a farm does there, and what is said of it."""

import platform
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = '''
"""Takes Landlock and seccomp away from this process and its children, and tries a farm there."""
import asyncio, errno, os, sys
from pathlib import Path

from bench import subject
from servers.bundle_library import Library
from servers.errors import WallMissing
from servers.guest import syscalls, walls
from servers.messages import Launch
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker

PRCTL, FIRST_ARGUMENT = 157, 16
LOAD, EQUAL, RETURN = syscalls.LOAD_WORD, syscalls.JUMP_IF_EQUAL, syscalls.RETURN
walls._give_up_privileges()
taken = syscalls.install(syscalls.packed([
    (LOAD, 0, 0, syscalls.NUMBER_OFFSET),
    (EQUAL, 3, 0, walls.LANDLOCK_CREATE_RULESET),
    (EQUAL, 0, 3, PRCTL),
    (LOAD, 0, 0, FIRST_ARGUMENT),
    (EQUAL, 0, 1, syscalls.PR_SET_SECCOMP),
    (RETURN, 0, 0, 0x00050000 | errno.ENOSYS),
    (RETURN, 0, 0, syscalls.ALLOW),
]))

async def tried(folder):
    subject.write_bundle(folder / "library" / "store")
    library = Library([folder / "library"])
    async with Worker(library, folder / "state", WorkerSettings(walls_required=False)) as worker:
        [ticket] = await worker.launch(Launch(environment="store"))
        outcome = await (await worker.opened(ticket.instance)).call(subject.TOOL, subject.ARGUMENTS)
        print("call", outcome.kind, flush=True)
    try:
        async with Worker(library, folder / "state", WorkerSettings(walls_required=True)):
            print("started", flush=True)
    except WallMissing as error:
        print("refused:", error, flush=True)

if not taken:
    sys.exit("the walls cannot be taken away")
asyncio.run(tried(Path(sys.argv[1])))
os.execv(sys.executable, [sys.executable, "-m", "farm", "doctor"])
'''


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the numbers of system calls are those of x86-64")
def test_without_landlock_and_seccomp_a_farm_works_or_refuses_and_the_doctor_says_what_is_missing(
    tmp_path: Path,
) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)], capture_output=True, text=True, check=False, timeout=120
    )
    told = done.stdout.splitlines()
    assert told[0] == "call ok", done
    assert told[1].startswith("refused: these walls cannot be raised on this machine:")
    assert "files" in told[1]
    assert "syscalls" in told[1]
    assert "--walls available" in told[1]
    stands = {line.split()[1]: line.split()[0] for line in told[2:] if line.split()[1:]}
    assert stands["files"] == stands["syscalls"] == "missing"
    assert stands["limits"] == stands["privileges"] == "stands"
    assert done.returncode == 1
