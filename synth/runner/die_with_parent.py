"""Runs another program in this process. The kernel ends it when the parent process dies.

Run as `python -m synth.runner.die_with_parent PARENT PROGRAM ARGUMENT…`. PARENT is the parent's process id.
"""

import os
import sys

from servers.doors.worker_process import die_with_parent


def main() -> None:
    """Tie this process to its parent, and execute the program."""
    die_with_parent(int(sys.argv[1]))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606


if __name__ == "__main__":
    main()
