"""What a worker tells in JSON, read back."""

from pydantic import TypeAdapter

from servers.messages import CallRecord
from servers.state.rows import RowChange
from servers.worker.worker import Worker

DIFF = TypeAdapter(list[RowChange])
HISTORY = TypeAdapter(list[CallRecord])


async def diff_of(worker: Worker, instance: str) -> list[RowChange]:
    """The rows that differ from the start."""
    return DIFF.validate_json(await worker.diff(instance))


async def history_of(worker: Worker, instance: str, *, after: int = 0, limit: int = 100) -> list[CallRecord]:
    """The calls so far, oldest first."""
    return HISTORY.validate_json(await worker.history(instance, after, limit))
