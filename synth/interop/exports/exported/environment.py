"""The object of an exported environment: its attributes are its tables, and a call runs a tool over them.

This text is written into exported environments, behind the Database handle.
"""

import sqlite3
from collections.abc import Callable
from typing import Any

from synth.interop.exports.exported.database import Database, ToolError, opened, rows_in, time_at

CLOCK = "clock"
CALLS = "calls"
SCHEMA: dict[str, Any] = {}


class Exported:
    """What exported environments are; `init_config` holds the rows of each table, the clock and the calls so far."""

    def __init__(self, init_config: dict[str, Any] | None = None) -> None:
        for table in SCHEMA["tables"]:
            setattr(self, table, {})
        self.clock = SCHEMA["clock"]
        self.calls = 0
        for name, value in (init_config or {}).items():
            setattr(self, name, value)

    def _call(self, tool: Callable[..., Any], arguments: dict[str, Any]) -> dict[str, Any]:
        """Run a tool; what it wrote stays when it succeeds."""
        rows = {table: getattr(self, table) for table in SCHEMA["tables"]}
        now = time_at(self.clock, self.calls)
        self.calls += 1
        connection = opened(SCHEMA, rows, now)
        try:
            connection.execute("BEGIN")
            result = tool(Database(connection, now=now, id_seed=f"0/{self.calls}"), **arguments)
            connection.execute("COMMIT")
            for table, found in rows_in(connection, SCHEMA).items():
                setattr(self, table, found)
        except ToolError as error:
            return {"success": False, "error": str(error)}
        except sqlite3.IntegrityError as error:
            return {"success": False, "error": f"this would break a rule of the database: {error}"}
        except Exception as error:
            return {"success": False, "error": f"the tool failed: {type(error).__name__}: {error}"}
        finally:
            connection.close()
        return {"success": True, "data": result}
