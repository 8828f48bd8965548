"""The system calls that an agent's program may not make: by them it would leave something in the kernel for the next.

Messages, semaphores and memory of System V, queues of POSIX, and keys outlive the processes that made them, and no rule
about files covers them. All other calls pass.
"""

import ctypes
import os
import platform

from servers.guest.syscalls import (
    ALLOW,
    ARCH_OFFSET,
    AUDIT_ARCH_X86_64,
    FAIL,
    JUMP_IF_EQUAL,
    LOAD_WORD,
    NUMBER_OFFSET,
    RETURN,
    install,
    packed,
)

AUDIT_ARCH_AARCH64 = 0xC00000B7
JUMP_IF_AT_LEAST = 0x35
X32 = 0x40000000
"""The number from which the calls of a second table begin on x86_64."""
REFUSED = {
    "x86_64": (
        AUDIT_ARCH_X86_64,
        {"shmget": 29, "semget": 64, "msgget": 68, "mq_open": 240, "add_key": 248, "request_key": 249, "keyctl": 250},
    ),
    "aarch64": (
        AUDIT_ARCH_AARCH64,
        {"mq_open": 180, "msgget": 186, "semget": 190, "shmget": 194}
        | {"add_key": 217, "request_key": 218, "keyctl": 219},
    ),
}  # fmt: skip


def refuse_what_the_kernel_keeps() -> None:
    """Install the filter in this process, and all that it starts. They fail with EPERM, as do those of 32-bit programs.

    Raises:
        OSError: it cannot be installed, or there is none for this machine.
    """
    found = REFUSED.get(platform.machine())
    if found is None:
        raise OSError(f"there is no filter of system calls for {platform.machine()}")
    if not install(_program(*found)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _program(arch: int, refused: dict[str, int]) -> bytes:
    """The filter: calls of another table and refused ones fail, all others pass."""
    numbers = sorted(refused.values())
    steps = [(LOAD_WORD, 0, 0, ARCH_OFFSET), (JUMP_IF_EQUAL, 1, 0, arch), (RETURN, 0, 0, FAIL)]
    steps += [(LOAD_WORD, 0, 0, NUMBER_OFFSET), (JUMP_IF_AT_LEAST, len(numbers) + 1, 0, X32)]
    steps += [(JUMP_IF_EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    return packed([*steps, (RETURN, 0, 0, ALLOW), (RETURN, 0, 0, FAIL)])
