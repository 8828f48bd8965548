"""How much memory the farm's own process takes, whatever strangers ask of it.

Each thing that grows with what strangers send has a budget of its own, in the module that holds it. Together with what
an idle farm takes they stay below one ceiling; `tests/servers/limits/test_farm_memory.py` adds them up.
"""

import apsw

CEILING = 600_000_000
"""Bytes of a process that serves: a worker, or a farm with one worker."""
BASE = 175_000_000
"""Bytes of it when nobody has asked anything: the code, the library, SQLite."""
SQLITE_HEAP = 160 * 1024 * 1024
"""Bytes that SQLite may take in it, of all connections: what the budgets admit, and room to compile. A statement that
would take more fails alone; what it took is free again then."""


def limit_sqlite() -> None:
    """Have SQLite take no more memory in this process than a farm has for it."""
    apsw.hard_heap_limit(SQLITE_HEAP)
