"""The process that speaks to a Ray cluster: its arguments are the ends of connections to its parent.

Over the first it is told the kind of work and how many are to do it, and says how many do. Each of them has one of the
other connections. When the first is closed, if only by the parent's death, it lets everybody go.
"""

import os
import sys
from multiprocessing.connection import Connection

from servers.errors import FarmError

try:
    from synth.processes.ray_workers import attend
except ModuleNotFoundError as error:
    missing = FarmError(f"--engine ray: {error}; pip install 'envfarm[scale]'")
    Connection(int(sys.argv[1])).send(missing)
    sys.exit(1)

if __name__ == "__main__":
    first, *others = [Connection(int(end)) for end in sys.argv[1:]]
    attend(first, others, os.environ.get("RAY_ADDRESS", ""))
