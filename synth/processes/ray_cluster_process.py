"""The child process that talks to a Ray cluster. Its arguments are the ends of connections to its parent.

The first connection brings the job and the number of workers, and returns the actual number. Each worker has one of the
others. When the first one closes, also by the parent's death, all workers end.
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
