"""An environment whose one tool counts its calls, and callers that know what must have been counted."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import Toolbox, connect
from agent_client.wire import shared_http
from registry.client import FarmClient
from registry.messages import Lease
from servers.messages import CallRecord
from tests.bundles import write_bundle

SCHEMA = """
CREATE TABLE counter (id INTEGER PRIMARY KEY, value INTEGER NOT NULL);
CREATE TABLE steps (id TEXT PRIMARY KEY, at TEXT NOT NULL) WITHOUT ROWID;
"""
TOOLS = '''
def add(db: Database) -> dict:
    """Add one."""
    db.run("INSERT INTO steps (id, at) VALUES (:id, :at)", id=db.new_id("step"), at=db.now())
    db.run("UPDATE counter SET value = value + 1")
    return {"value": db.all("SELECT value FROM counter")[0]["value"]}
'''
SEED = 11


WHOLE: dict[str, Any] = {
    "id": "whole",
    "title": "Whole",
    "task": "Count.",
    "checkpoints": [
        {
            "id": "by_sql",
            "role": "goal",
            "question": "Is each call there whole, or not at all?",
            "kind": "sql",
            "sql": "SELECT value - (SELECT count(*) FROM steps) FROM counter",
            "expect": [[0]],
        },
        {
            "id": "by_python",
            "role": "goal",
            "question": "The same, in a guest.",
            "kind": "python",
            "python": "def check(start, final, answer, calls):\n"
            "    steps = final.all('SELECT id FROM steps')\n"
            "    return len(steps) == len(calls) == final.all('SELECT value FROM counter')[0]['value']\n",
        },
    ],
    "solution": {"calls": [{"tool": "add", "arguments": {}}], "answer": "Done."},
}
"""A scenario that every state earns: each other reward is trouble of the farm's."""


async def write_counter(folder: Path) -> None:
    """A bundle `counter` in a folder."""
    seed = "INSERT INTO counter VALUES (1, 0);\n"
    await write_bundle(folder / "counter", tools=TOOLS, schema=SCHEMA, seed=seed, scenarios=(WHOLE,))


@dataclass
class Caller:
    """One connection to an instance, which counts what became of its calls."""

    toolbox: Toolbox
    instance: str
    answered: int = 0
    unanswered: int = 0

    async def call(self) -> bool:
        """Make one call; whether it was answered."""
        try:
            result = await self.toolbox.call("add", {})
        except FarmUnreachable:
            self.unanswered += 1
            return False
        assert not result.is_error, result.text
        self.answered += 1
        return True

    async def call_again(self) -> None:
        """Make one call, with at most one retry."""
        assert await self.call() or await self.call()


async def check(callers: list[Caller], farm: FarmClient) -> None:
    """What was answered is there, what was not is there whole or not at all, and all of it can be repeated."""
    for instance in {caller.instance for caller in callers}:
        mine = [caller for caller in callers if caller.instance == instance]
        answered = sum(caller.answered for caller in mine)
        unanswered = sum(caller.unanswered for caller in mine)
        found = await farm.query(instance, "SELECT value, (SELECT count(*) FROM steps) FROM counter")
        [(value, steps)] = found.rows
        assert answered <= value <= answered + unanswered
        history = await whole_history(farm, instance)
        assert len(history) == steps == value
        assert {call.outcome for call in history} == {"ok"}
        await repeat(farm, instance, [call.text for call in history])


async def whole_history(farm: FarmClient, instance: str) -> list[CallRecord]:
    found: list[CallRecord] = []
    while True:
        part = await farm.history(instance, offset=len(found), limit=1000)
        found += part.items
        if len(found) >= part.total:
            return found


async def repeat(farm: FarmClient, instance: str, texts: list[str]) -> None:
    """The same calls from the same start give the same texts and the same bytes."""
    [lease] = await farm.launch("counter", seed=SEED)
    async with connected([lease]) as [again]:
        assert [(await again.toolbox.call("add", {})).text for _ in texts] == texts
    assert await farm.snapshot(lease.instance) == await farm.snapshot(instance)
    await farm.close(lease.instance)


@asynccontextmanager
async def connected(leases: list[Lease]) -> AsyncGenerator[list[Caller]]:
    """A caller for each lease; a lease may be there more than once."""
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(shared_http())
        callers: list[Caller] = []
        for lease in leases:
            assert lease.mcp_url is not None
            assert lease.token is not None
            opened = connect(lease.mcp_url, lease.token, http_client=http)
            callers.append(Caller(await stack.enter_async_context(opened), lease.instance))
        yield callers
