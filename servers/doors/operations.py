"""What a registry asks of a worker: each operation with its order, its answer, and how a worker does it.

A new operation is a constant here, and its place in `OPERATIONS`. A worker in the registry's own process does it
directly, another one is asked through its control door.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Generic, TypeVar

from pydantic import ConfigDict, FailFast, Field, TypeAdapter
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from servers.guest.sqlite.image import Image, pieces_of
from servers.messages import (
    Assessment,
    CallAnswer,
    InstanceId,
    InstanceStatus,
    Judge,
    Launch,
    Page,
    QueryRows,
    StartTable,
    TableRows,
    Ticket,
)
from servers.records import Name, Record
from servers.worker.metrics import Family, families_of
from servers.worker.settings import MOST_INSTANCES
from servers.worker.worker import Worker


class EmptyOrder(Record):
    """An order without content."""


class InstanceOrder(Record):
    """An order about one instance."""

    instance: InstanceId


class RewindOrder(InstanceOrder):
    call: int = Field(ge=0)


class ForkOrder(InstanceOrder):
    count: int = Field(ge=1, le=1000)


class DepartOrder(InstanceOrder):
    """An instance that leaves, and the copy that another worker is to have of it."""

    copied_as: InstanceId


class ArriveOrder(Record):
    """Instances to be made of the state of another worker's instance `source`, which the launch has launched."""

    model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")

    launch: Launch
    source: InstanceId
    state: bytes
    instances: Annotated[tuple[InstanceId, ...], Field(min_length=1, max_length=1000)]


class CallOrder(InstanceOrder):
    """A tool call that a person makes."""

    tool: str
    arguments: dict[str, Any]


class MarksOrder(Record):
    """The instances whose marks are wanted."""

    instances: tuple[InstanceId, ...]


class StartOrder(Record):
    """An environment whose first rows are wanted."""

    environment: Name
    rows: int = Field(ge=0, le=1000)


class TableOrder(InstanceOrder):
    name: str
    page: Page


class HistoryOrder(InstanceOrder):
    after: int = Field(ge=0)
    limit: int = Field(ge=1, le=1000)


class QueryOrder(InstanceOrder):
    sql: str
    limit: int = Field(ge=1, le=10_000)


class JudgeOrder(InstanceOrder):
    judge: Judge


MOST_LEAVERS = 10_000
"""Instances that leave a worker at one time. They are moved one after another."""
OrderT = TypeVar("OrderT", bound=Record)
AnswerT = TypeVar("AnswerT")
NOTHING: TypeAdapter[None] = TypeAdapter(None)
WALL_NAMES: TypeAdapter[list[str]] = TypeAdapter(Annotated[list[Name], FailFast(), Field(max_length=20)])
INSTANCES: TypeAdapter[list[str]] = TypeAdapter(
    Annotated[list[InstanceId], FailFast(), Field(max_length=MOST_INSTANCES)]
)
TICKETS: TypeAdapter[list[Ticket]] = TypeAdapter(Annotated[list[Ticket], FailFast()])
BYTES = TypeAdapter(bytes)
"""What may be long is passed on as it is: the JSON of a difference or a history."""
IMAGE: TypeAdapter[Image] = TypeAdapter(Any)
"""What may be longer yet is passed on in pieces: a snapshot."""


class ImageResponse(Response):
    """An image as the answer to a request. It is sent in pieces, as its reader takes them."""

    def __init__(
        self, image: Image, *, media_type: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(headers={**(headers or {}), "Content-Length": str(len(image))}, media_type=media_type)
        self._image = image

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        for piece in pieces_of(self._image):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@dataclass(frozen=True)
class Operation(Generic[OrderT, AnswerT]):
    """One operation. One that only reads ends when the registry disconnects."""

    name: str
    order: type[OrderT]
    answer: TypeAdapter[AnswerT]
    run: Callable[[Worker, OrderT], Awaitable[AnswerT]]
    only_reads: bool = False

    @property
    def is_image(self) -> bool:
        """True if its answer is an image, which is in a file where it is long."""
        return self.answer is IMAGE

    @property
    def is_parsed(self) -> bool:
        """True if its answer is JSON that is read here, not passed on as it is."""
        return self.answer is not BYTES and not self.is_image

    def written(self, answer: AnswerT) -> bytes:
        """An answer as it is sent: bytes as they are, everything else as JSON."""
        return answer if isinstance(answer, bytes) else self.answer.dump_json(answer)

    def read(self, body: Image) -> AnswerT:
        """An answer that was sent. Raises ValidationError."""
        return self.answer.validate_json(body[:]) if self.is_parsed else self.answer.validate_python(body)


async def _ids(worker: Worker, _order: EmptyOrder) -> list[str]:
    return worker.ids()


async def _metrics(worker: Worker, _order: EmptyOrder) -> list[Family]:
    return families_of(worker)


async def _ticket(worker: Worker, order: InstanceOrder) -> Ticket:
    return worker.ticket(order.instance)


IDS = Operation("ids", EmptyOrder, INSTANCES, _ids)
WALLS = Operation("walls", EmptyOrder, WALL_NAMES, lambda worker, _: worker.walls())
METRICS = Operation("metrics", EmptyOrder, TypeAdapter(Annotated[list[Family], FailFast()]), _metrics)
TICKET = Operation("ticket", InstanceOrder, TypeAdapter(Ticket), _ticket)
LAUNCH = Operation("launch", Launch, TICKETS, lambda worker, order: worker.launch(order))
STANDING = Operation(
    "standing", InstanceOrder, TypeAdapter(InstanceStatus), lambda worker, order: worker.standing(order.instance)
)
RESET = Operation("reset", InstanceOrder, NOTHING, lambda worker, order: worker.reset(order.instance))
REWIND = Operation("rewind", RewindOrder, NOTHING, lambda worker, order: worker.rewind(order.instance, order.call))
MARK_TURN = Operation(
    "mark_turn", InstanceOrder, TypeAdapter(int), lambda worker, order: worker.mark_turn(order.instance)
)
FORK = Operation("fork", ForkOrder, TICKETS, lambda worker, order: worker.fork(order.instance, order.count))
EXPORT = Operation("export", InstanceOrder, BYTES, lambda worker, order: worker.export(order.instance), only_reads=True)
DEPART = Operation("depart", DepartOrder, BYTES, lambda worker, order: worker.depart(order.instance, order.copied_as))
STAY = Operation("stay", DepartOrder, NOTHING, lambda worker, order: worker.stay(order.instance, order.copied_as))
LEAVE = Operation("leave", DepartOrder, NOTHING, lambda worker, order: worker.leave(order.instance, order.copied_as))
LEAVERS = Operation(
    "leavers",
    EmptyOrder,
    TypeAdapter(Annotated[dict[InstanceId, InstanceId], Field(max_length=MOST_LEAVERS)]),
    lambda worker, _: worker.leavers(),
)
ARRIVE = Operation(
    "arrive",
    ArriveOrder,
    TICKETS,
    lambda worker, order: worker.arrive(order.launch, order.source, order.state, order.instances),
)
CLOSE = Operation("close", InstanceOrder, NOTHING, lambda worker, order: worker.close(order.instance))
SUSPEND = Operation("suspend", InstanceOrder, NOTHING, lambda worker, order: worker.suspend(order.instance))
RESUME = Operation("resume", InstanceOrder, NOTHING, lambda worker, order: worker.resume(order.instance))
SUSPENDED = Operation("suspended", EmptyOrder, INSTANCES, lambda worker, _: worker.suspended())
CALL = Operation(
    "call",
    CallOrder,
    TypeAdapter(CallAnswer),
    lambda worker, order: worker.call(order.instance, order.tool, order.arguments),
)
MARKS = Operation("marks", MarksOrder, TypeAdapter(dict[str, str]), lambda worker, order: worker.marks(order.instances))
AT_START = Operation(
    "at_start",
    StartOrder,
    TypeAdapter(Annotated[list[StartTable], FailFast()]),
    lambda worker, order: worker.at_start(order.environment, order.rows),
    only_reads=True,
)
TABLES = Operation(
    "tables",
    InstanceOrder,
    TypeAdapter(Annotated[list[TableRows], FailFast()]),
    lambda worker, order: worker.tables(order.instance),
    only_reads=True,
)
TABLE = Operation(
    "table",
    TableOrder,
    TypeAdapter(TableRows),
    lambda worker, order: worker.table(order.instance, order.name, order.page),
    only_reads=True,
)
DIFF = Operation(
    "diff",
    InstanceOrder,
    BYTES,
    lambda worker, order: worker.diff(order.instance),
    only_reads=True,
)
HISTORY = Operation(
    "history",
    HistoryOrder,
    BYTES,
    lambda worker, order: worker.history(order.instance, order.after, order.limit),
    only_reads=True,
)
QUERY = Operation(
    "query",
    QueryOrder,
    TypeAdapter(QueryRows),
    lambda worker, order: worker.query(order.instance, order.sql, order.limit),
    only_reads=True,
)
SNAPSHOT = Operation(
    "snapshot",
    InstanceOrder,
    IMAGE,
    lambda worker, order: worker.snapshot(order.instance),
    only_reads=True,
)
JUDGE = Operation(
    "judge",
    JudgeOrder,
    TypeAdapter(Assessment),
    lambda worker, order: worker.judge(order.instance, order.judge),
    only_reads=True,
)
EVERY: tuple[Operation[Any, Any], ...] = (
    *(IDS, WALLS, METRICS, TICKET, LAUNCH, STANDING, RESET, REWIND, MARK_TURN, FORK, CLOSE, SUSPEND, RESUME, SUSPENDED),
    *(EXPORT, DEPART, STAY, LEAVE, LEAVERS, ARRIVE),
    *(CALL, MARKS, AT_START, TABLES, TABLE, DIFF, HISTORY, QUERY, SNAPSHOT, JUDGE),
)
OPERATIONS: dict[str, Operation[Any, Any]] = {operation.name: operation for operation in EVERY}
