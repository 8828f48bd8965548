"""A worker in another process, reached over HTTP through its control door."""

from typing import Any

import httpx
from pydantic import TypeAdapter, ValidationError

from servers import errors
from servers.doors.control import (
    OPERATIONS,
    SNAPSHOT,
    ForkInto,
    HistoryOf,
    JudgeOf,
    Nothing,
    Of,
    QueryOf,
    RewindTo,
    TableOf,
)
from servers.errors import CapacityError, FarmError, InfraError
from servers.limits.processor_budget import LONGEST_JUDGEMENT
from servers.messages import Assessment, InstanceStatus, Judge, Launch, Page, QueryRows, TableRows, Ticket
from servers.records import Record
from servers.validation import first_problem
from servers.worker.metrics import Family

SECONDS = 60.0
JUDGE_SECONDS = LONGEST_JUDGEMENT + SECONDS
"""Seconds to wait for a judgement: longer than one may take, so that a slow one is not given up."""
ERRORS: dict[str, type[FarmError]] = {
    kind: error for kind, error in vars(errors).items() if isinstance(error, type) and issubclass(error, FarmError)
}


class RemoteWorker:
    """The operations of a worker, each as one HTTP request."""

    def __init__(self, url: str, token: str) -> None:
        self._http = httpx.AsyncClient(
            base_url=f"{url.rstrip('/')}/w/",
            headers={"Authorization": f"Bearer {token}"},
            trust_env=False,
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=64, keepalive_expiry=3.0),
        )
        self.url = url

    async def aclose(self) -> None:
        await self._http.aclose()

    async def ids(self) -> list[str]:
        return await self._ask("ids", Nothing())

    async def walls(self) -> list[str]:
        return await self._ask("walls", Nothing())

    async def metrics(self) -> list[Family]:
        return await self._ask("metrics", Nothing())

    async def ticket(self, instance_id: str) -> Ticket:
        return await self._ask("ticket", Of(instance=instance_id))

    async def launch(self, order: Launch) -> list[Ticket]:
        return await self._ask("launch", order)

    async def standing(self, instance_id: str) -> InstanceStatus:
        return await self._ask("standing", Of(instance=instance_id))

    async def reset(self, instance_id: str) -> None:
        await self._ask("reset", Of(instance=instance_id))

    async def rewind(self, instance_id: str, seq: int) -> None:
        await self._ask("rewind", RewindTo(instance=instance_id, call=seq))

    async def fork(self, instance_id: str, count: int) -> list[Ticket]:
        return await self._ask("fork", ForkInto(instance=instance_id, count=count))

    async def close(self, instance_id: str) -> None:
        await self._ask("close", Of(instance=instance_id))

    async def suspend(self, instance_id: str) -> None:
        await self._ask("suspend", Of(instance=instance_id))

    async def resume(self, instance_id: str) -> None:
        await self._ask("resume", Of(instance=instance_id))

    async def suspended(self) -> list[str]:
        return await self._ask("suspended", Nothing())

    async def tables(self, instance_id: str) -> list[TableRows]:
        return await self._ask("tables", Of(instance=instance_id))

    async def table(self, instance_id: str, name: str, page: Page) -> TableRows:
        return await self._ask("table", TableOf(instance=instance_id, name=name, page=page))

    async def diff(self, instance_id: str) -> bytes:
        return (await self._post("diff", Of(instance=instance_id))).content

    async def history(self, instance_id: str, after: int = 0, limit: int = 100) -> bytes:
        return (await self._post("history", HistoryOf(instance=instance_id, after=after, limit=limit))).content

    async def query(self, instance_id: str, sql: str, limit: int = 1000) -> QueryRows:
        return await self._ask("query", QueryOf(instance=instance_id, sql=sql, limit=limit))

    async def judge(self, instance_id: str, order: Judge) -> Assessment:
        return await self._ask("judge", JudgeOf(instance=instance_id, order=order))

    async def snapshot(self, instance_id: str) -> bytes:
        response = await self._post(SNAPSHOT, Of(instance=instance_id))
        return response.content

    async def _ask(self, operation: str, order: Record) -> Any:
        seconds = JUDGE_SECONDS if operation == "judge" else SECONDS
        response = await self._post(operation, order, seconds=seconds)
        adapter: TypeAdapter[Any] = OPERATIONS[operation].answer
        try:
            return adapter.validate_json(response.content)
        except ValidationError as error:
            raise InfraError(
                f"the worker at {self.url} answered {operation} with what is no answer: {first_problem(error)}"
            ) from None

    async def _post(self, operation: str, order: Record, *, seconds: float = SECONDS) -> httpx.Response:
        try:
            response = await self._http.post(operation, content=order.model_dump_json(), timeout=seconds)
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
            raise CapacityError(f"the worker at {self.url} does not answer ({reason}); it is being restarted") from None
        if response.is_success:
            return response
        try:
            said = response.json()["error"]
            raise ERRORS.get(said["kind"], InfraError)(said["message"])
        except (ValueError, KeyError, TypeError):
            raise InfraError(f"the worker at {self.url} answered {operation} with {response.status_code}") from None
