"""The end of a process with its parent, by the kernel.

Run as `python -m servers.limits.parent_death PARENT PROGRAM ARGUMENT…`, it becomes a program that ends so. PARENT is
the parent's process id.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` dies, or immediately if it is dead already."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def main() -> None:
    """Tie this process to its parent, and execute the program."""
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606


if __name__ == "__main__":
    main()
