"""The walls around a guest. It raises them itself, after the fork and before it gets any bundle data.

A guest needs memory, time and its one socket. Several independent means take everything else away. `raise_all` returns
the names of the walls that this kernel and this user could raise.
"""

import ctypes
import os
import resource
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

from servers.guest import syscalls

WALLS = {
    "uid": "a user id of its own, which owns no file and can signal nobody (needs root)",
    "privileges": "no capability, and no way to gain one",
    "network": "no network: a namespace of its own, no sockets, or both",
    "files": "no file can be opened, read, made or named (Landlock)",
    "syscalls": "no exec, no process, no socket, no ptrace, no mount (seccomp)",
    "limits": "1 GiB of memory, 32 open files, no file written, no core dump",
}
"""The walls by name, and the promise of each."""

MEMORY = 1024 * 1024 * 1024
"""Bytes of address space. A warm guest maps about 100 MB before it loads anything."""
FIRST_UID = 0x40000000
"""The first user id of guests, one for each process: above those that a system assigns."""

PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
ASK_PERSONALITY, ADDR_NO_RANDOMIZE = 0xFFFFFFFF, 0x0040000
CLONE_NEWNET, CLONE_NEWIPC = 0x40000000, 0x08000000
LANDLOCK_CREATE_RULESET, LANDLOCK_RESTRICT_SELF = 444, 446
LANDLOCK_FILE_RIGHTS = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
LANDLOCK_TCP_RIGHTS = 0b11
LANDLOCK_SCOPES = 0b11

_libc = ctypes.CDLL(None, use_errno=True)


def leave_the_network() -> bool:
    """Put this process and its forks into a namespace without a network. Needs root."""
    return _libc.unshare(CLONE_NEWNET | CLONE_NEWIPC) == 0


def personality() -> int:
    """The flags of this thread that its next program inherits, or -1 where the kernel tells nobody."""
    return int(_libc.personality(ASK_PERSONALITY))


@contextmanager
def fixed_addresses() -> Generator[bool]:
    """Programs that this thread starts meanwhile get the same addresses each time, where the kernel allows it."""
    now = personality()
    chosen = now != -1 and _libc.personality(now | ADDR_NO_RANDOMIZE) != -1
    try:
        yield chosen
    finally:
        if chosen:
            _libc.personality(now)


def die_with_parent() -> bool:
    """Have the kernel kill this process when its parent dies."""
    return _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0) == 0


def raise_all(*, network_left: bool) -> list[str]:
    """Raise every possible wall, and return their names."""
    die_with_parent()
    steps: dict[str, Callable[[], bool]] = {
        "limits": _limit,
        "uid": _become_nobody,
        "privileges": _give_up_privileges,
        "files": _see_no_files,
        "syscalls": syscalls.allow_only_what_is_needed,
    }
    standing = {name for name, step in steps.items() if step()}
    if network_left or "syscalls" in standing:
        standing.add("network")
    return [name for name in WALLS if name in standing]


def _limit() -> bool:
    """Hard limits on memory, files, file size, processes and core dumps."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (32, 32))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    return True


def _become_nobody() -> bool:
    """Take a user id that nothing else has. It owns no file and can signal nobody."""
    if os.geteuid() != 0:
        return False
    uid = FIRST_UID + os.getpid()
    try:
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:
        return False
    return die_with_parent()  # another user's process has lost what it had asked for


def _give_up_privileges() -> bool:
    return _libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


def _see_no_files() -> bool:
    """Landlock without any rule: no file, no TCP, no abstract socket, no signal to the outside."""
    version: int = _libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    rules = _Ruleset(files=LANDLOCK_FILE_RIGHTS[min(version, max(LANDLOCK_FILE_RIGHTS))])
    size = 8
    if version >= 4:
        rules.tcp, size = LANDLOCK_TCP_RIGHTS, 16
    if version >= 6:
        rules.scopes, size = LANDLOCK_SCOPES, 24
    handle: int = _libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(rules), size, 0)
    if handle < 0:
        return False
    try:
        return _libc.syscall(LANDLOCK_RESTRICT_SELF, handle, 0) == 0
    finally:
        os.close(handle)
