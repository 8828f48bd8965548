"""The process that speaks to a Ray cluster: its arguments are its parent's id and the ends of connections.

Over the first it is told the kind of work and how many are to do it, and says how many do. Each of them has one of the
other connections. When the first is closed it lets everybody go.
"""

import os
import sys
from multiprocessing.connection import Connection

from servers.errors import FarmError
from servers.worker_process import die_with_parent

try:
    from synth.over_ray import attend
except ModuleNotFoundError as error:
    missing = FarmError(f"--engine ray: {error}; pip install 'envfarm[scale]'")
    Connection(int(sys.argv[2])).send(missing)
    sys.exit(1)

if __name__ == "__main__":
    die_with_parent(int(sys.argv[1]))
    first, *others = [Connection(int(end)) for end in sys.argv[2:]]
    attend(first, others, os.environ.get("RAY_ADDRESS", ""))
