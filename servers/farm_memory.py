"""How much memory the farm's own process takes, whatever strangers ask of it.

Each thing that grows with what strangers send has a budget of its own, in the module that holds it. Together with what
an idle farm takes they stay below one ceiling; `tests/servers/test_farm_memory.py` adds them up.
"""

CEILING = 600_000_000
"""Bytes of a process that serves: a worker, or a farm with one worker."""
BASE = 175_000_000
"""Bytes of it when nobody has asked anything: the code, the library, SQLite."""
