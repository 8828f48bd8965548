"""The walls around an agent's program, raised by its process before the program starts.

A program may read the folders that it needs, write into its own, and signal and trace only what it has started. It
keeps the network, for it has to reach its model and its instance. Nothing that it writes outlives its folder.
"""

import ctypes
import os
import resource
from collections.abc import Sequence

from evals.programs.agent_syscalls import refuse_what_the_kernel_keeps
from servers.guest.walls import (
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_FILE_RIGHTS,
    LANDLOCK_RESTRICT_SELF,
    LANDLOCK_SCOPES,
    PR_SET_NO_NEW_PRIVS,
)

LANDLOCK_ADD_RULE, LANDLOCK_PATH_BENEATH = 445, 1
VERSION_OF_SCOPES = 6
PR_CAPBSET_DROP, CAPABILITIES = 24, 64
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, TRUNCATE, CONTROL_DEVICE = 1, 2, 4, 8, 1 << 14, 1 << 15
FILE_RIGHTS = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | CONTROL_DEVICE
"""What a rule about one file may allow."""
READ = EXECUTE | READ_FILE | READ_DIR
SYSTEM = ("/bin", "/etc", "/lib", "/lib32", "/lib64", "/opt", "/proc", "/run/systemd/resolve", "/sbin", "/sys", "/usr")
"""What programs read of a system: themselves, their libraries, certificates and names of hosts."""
DEVICES = tuple(f"/dev/{name}" for name in ("null", "zero", "full", "random", "urandom", "tty"))
"""Those that keep nothing. In the rest of /dev, such as /dev/shm, an episode could leave words for the next."""
USE = READ_FILE | WRITE_FILE | TRUNCATE | CONTROL_DEVICE

_libc = ctypes.CDLL(None, use_errno=True)


class _FileRules(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("tcp", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _layout_ = "ms"  # from Python 3.14 on, `_pack_` wants it said
    _pack_ = 1
    _fields_ = (("rights", ctypes.c_uint64), ("parent", ctypes.c_int32))


def landlock_version() -> int:
    """The version of Landlock here. 0 or less if there is none."""
    return int(_libc.syscall(LANDLOCK_CREATE_RULESET, None, 0, 1))


def raise_walls(read: Sequence[str], write: Sequence[str]) -> None:
    """Confine this process, and all that it starts, to some files and folders.

    Raises:
        OSError: the walls cannot be raised. Do not start the program then.
    """
    version = landlock_version()
    if version < 1:
        raise OSError("this kernel has no Landlock")
    handled = LANDLOCK_FILE_RIGHTS[min(version, max(LANDLOCK_FILE_RIGHTS))]
    rules = _FileRules(files=handled, tcp=0, scopes=LANDLOCK_SCOPES if version >= VERSION_OF_SCOPES else 0)
    size = 24 if version >= VERSION_OF_SCOPES else 8
    handle = _checked(_libc.syscall(LANDLOCK_CREATE_RULESET, ctypes.byref(rules), size, 0))
    for paths, rights in ((SYSTEM, READ), (read, READ), (DEVICES, USE), (write, handled)):
        for path in paths:
            _allow(handle, path, rights & handled)
    for capability in range(CAPABILITIES):
        _libc.prctl(PR_CAPBSET_DROP, capability, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _checked(_libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(_libc.syscall(LANDLOCK_RESTRICT_SELF, handle, 0))
    os.close(handle)
    refuse_what_the_kernel_keeps()


def _allow(ruleset: int, path: str, rights: int) -> None:
    """Allow a path and all below it. One that is not there needs no rule."""
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        beneath = _PathBeneath(rights if os.path.isdir(path) else rights & FILE_RIGHTS, parent)  # noqa: PTH112
        _checked(_libc.syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_PATH_BENEATH, ctypes.byref(beneath), 0))
    finally:
        os.close(parent)


def _checked(answer: int) -> int:
    if answer < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return answer
