"""The system calls of a guest: those for memory, time and an open socket. All others fail with EPERM.

The filter is classic BPF for seccomp: it compares the call's number with each allowed one.
"""

import ctypes
import errno
import platform
import struct
from collections.abc import Iterable

X86_64 = {
    "read": 0, "write": 1, "close": 3, "fstat": 5, "lseek": 8, "mmap": 9, "mprotect": 10, "munmap": 11, "brk": 12,
    "rt_sigaction": 13, "rt_sigprocmask": 14, "rt_sigreturn": 15, "sched_yield": 24, "mremap": 25, "madvise": 28,
    "nanosleep": 35, "getpid": 39, "sendto": 44, "recvfrom": 45, "exit": 60, "gettimeofday": 96, "getuid": 102,
    "getgid": 104, "geteuid": 107, "getegid": 108, "sigaltstack": 131, "gettid": 186, "futex": 202,
    "clock_gettime": 228, "clock_nanosleep": 230, "exit_group": 231, "getrandom": 318, "rseq": 334,
}  # fmt: skip
AUDIT_ARCH_X86_64 = 0xC000003E

PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 22, 2
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
NUMBER_OFFSET, ARCH_OFFSET = 0, 4
ALLOW, KILL, FAIL = 0x7FFF0000, 0x80000000, 0x00050000 | errno.EPERM


def _program(arch: int, allowed: list[int]) -> bytes:
    """The filter: calls of another architecture kill, allowed ones pass, all others fail."""
    steps = [(LOAD_WORD, 0, 0, ARCH_OFFSET), (JUMP_IF_EQUAL, 1, 0, arch), (RETURN, 0, 0, KILL)]
    steps.append((LOAD_WORD, 0, 0, NUMBER_OFFSET))
    for place, number in enumerate(allowed):
        steps.append((JUMP_IF_EQUAL, len(allowed) - place, 0, number))
    steps += [(RETURN, 0, 0, FAIL), (RETURN, 0, 0, ALLOW)]
    return packed(steps)


def packed(steps: Iterable[tuple[int, int, int, int]]) -> bytes:
    """The steps of a filter, as the kernel reads them."""
    return b"".join(struct.pack("HBBI", *step) for step in steps)


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_void_p))


_BYTES = _program(AUDIT_ARCH_X86_64, sorted(X86_64.values())) if platform.machine() == "x86_64" else b""
_libc = ctypes.CDLL(None, use_errno=True)


def allow_only_what_is_needed() -> bool:
    """Install the filter in this process. False if there is none for this machine."""
    if not _BYTES:
        return False
    return install(_BYTES)


def install(filter_: bytes) -> bool:
    """Install a filter in this process. False if the kernel refuses it."""
    program = ctypes.create_string_buffer(filter_, len(filter_))
    loaded = _Filter(len(filter_) // 8, ctypes.addressof(program))
    return _libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(loaded), 0, 0) == 0
