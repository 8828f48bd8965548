"""The pages of all instances, and of one instance's state: tables, the difference since the start, SQL, a copy."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple, cast, get_args

from starlette.responses import Response

from registry.messages import LARGEST_QUERY, Lease, LeasePart, LeaseStatus
from registry.web.app import PageView, Visit
from registry.web.pages.playground_pages import is_over, over_page
from registry.web.pages.shown_tables import TableView, changes_of, table_view
from servers.doors.operations import QUERY, SNAPSHOT, STANDING, ImageResponse, InstanceOrder, QueryOrder
from servers.errors import Conflict, FarmError, NotFound, QueryError
from servers.guest.sqlite.sql_text import quoted, sql_literal
from servers.messages import Page, QueryRows, StartTable

INSTANCES_A_PAGE = 50
ROWS_A_PAGE = 100
SQL_ROWS = 500
MOST_CLOSED = 1000
"""Instances that one form closes."""
FURTHEST = 10**9
SQLITE = "application/vnd.sqlite3"


class Filter(NamedTuple):
    """What is asked of a table: an order, and a text or value in a column."""

    sort: str
    down: bool
    column: str
    text: str
    key: str


class StatePages:
    """The pages of states of one farm."""

    def routes(self) -> dict[str, PageView]:
        one = "/instances/{instance}"
        return {
            "GET /instances": self.instances,
            "POST /instances/close": self.close_all,
            f"GET {one}/state": _of_what_is_there(self.state),
            f"GET {one}/diff": _of_what_is_there(self.diff),
            f"GET {one}/sql": _of_what_is_there(self.sql),
            f"POST {one}/sql": _of_what_is_there(self.sql),
            f"GET {one}/snapshot": self.snapshot,
        }

    async def instances(self, visit: Visit) -> Response:
        """The leases, the newest first."""
        status, environment = visit.asked("status", "live"), visit.asked("environment")
        offset = visit.number("from", most=FURTHEST)
        known = cast("LeaseStatus", status) if status in get_args(LeaseStatus) else None

        async def found(offset: int) -> LeasePart:
            page = Page(offset=offset, limit=INSTANCES_A_PAGE)
            return await visit.registry.leases(page, status=known, environment=environment or None)

        part = await found(offset)
        if part.total and not part.items:  # it is beyond the last page
            part = await found((part.total - 1) // INSTANCES_A_PAGE * INSTANCES_A_PAGE)
        ids = await visit.registry.catalogue.answer(visit.registry.catalogue.library.ids)
        return await visit.drawn(
            "instances.html",
            part=part,
            ids=ids,
            status=status,
            statuses=get_args(LeaseStatus),
            environment=environment,
        )

    async def close_all(self, visit: Visit) -> Response:
        """Close the live instances of an environment, or of all."""
        environment = visit.form.get("environment") or None
        part = await visit.registry.leases(Page(limit=MOST_CLOSED), status="live", environment=environment)
        for lease in part.items:
            try:
                await visit.registry.close(lease.instance)
            except (Conflict, NotFound):  # it has ended meanwhile
                continue
        return visit.go_to("/farm" if visit.form.get("back") == "/farm" else "/instances")

    async def state(self, visit: Visit, lease: Lease) -> Response:
        """One table: sorted, filtered, paged."""
        starts = await _starts_of(visit, lease)
        door = await visit.registry.reading_door(lease.instance)
        offset = visit.number("row", most=FURTHEST)
        view = await table_view(
            door, lease.instance, starts, wanted=visit.asked("table"), offset=offset, most=ROWS_A_PAGE
        )
        asked = _filter(visit, view)
        trouble = ""
        if asked.sort or asked.text or asked.key:
            try:
                where = _where(view, asked)
                found = await door.ask(QUERY, _order(lease, _select(view, asked, where, view.offset), ROWS_A_PAGE))
                count = f"SELECT count(*) FROM main.{quoted(view.name)}{where}"
                total = (await door.ask(QUERY, _order(lease, count, 1))).rows[0][0]
                view = view.of(found, int(total))
            except QueryError as error:
                trouble = str(error)
        return await self._drawn(visit, lease, "tables", view=view, asked=asked, trouble=trouble)

    async def diff(self, visit: Visit, lease: Lease) -> Response:
        """The rows that differ from the start."""
        door = await visit.registry.reading_door(lease.instance)
        changes, trouble = await changes_of(door, lease.instance)
        return await self._drawn(visit, lease, "diff", changes=changes[:MOST_CLOSED], all=len(changes), trouble=trouble)

    async def sql(self, visit: Visit, lease: Lease) -> Response:
        """One SELECT of a person."""
        starts = await _starts_of(visit, lease)
        sql = visit.form.get("sql", "")[:LARGEST_QUERY]
        found: QueryRows | None = None
        trouble = ""
        if sql.strip():
            door = await visit.registry.reading_door(lease.instance)
            try:
                found = await door.ask(QUERY, _order(lease, sql, SQL_ROWS))
            except QueryError as error:
                trouble = str(error)
        return await self._drawn(
            visit, lease, "sql", code=422 if trouble else 200, sql=sql, found=found, trouble=trouble, starts=starts
        )

    async def snapshot(self, visit: Visit) -> Response:
        """The current rows as a SQLite file."""
        instance = visit.part("instance")
        door = await visit.registry.reading_door(instance)
        image = await door.ask(SNAPSHOT, InstanceOrder(instance=instance))
        headers = {"Content-Disposition": f'attachment; filename="{instance}.db"'}
        return ImageResponse(image, media_type=SQLITE, headers=headers)

    async def _drawn(self, visit: Visit, lease: Lease, tab: str, code: int = 200, **values: object) -> Response:
        door = await visit.registry.reading_door(lease.instance)
        standing = await door.ask(STANDING, InstanceOrder(instance=lease.instance))
        return await visit.drawn(f"state_{tab}.html", code, lease=lease, standing=standing, tab=tab, **values)


def _of_what_is_there(page: Callable[[Visit, Lease], Awaitable[Response]]) -> PageView:
    """A page of a state. If the instance is over, the page that says so takes its place."""

    async def shown(visit: Visit) -> Response:
        lease = await visit.registry.find(visit.part("instance"))
        return await over_page(visit, lease) if is_over(lease) else await page(visit, lease)

    return shown


async def _starts_of(visit: Visit, lease: Lease) -> list[StartTable]:
    """The tables that an instance began with; none where its environment cannot be read."""
    catalogue = visit.registry.catalogue
    try:
        detail = await catalogue.answer(lambda: catalogue.library.environment(lease.environment))
        return await visit.pages.start_tables(lease.environment, detail.digest)
    except FarmError:
        return []


def _filter(visit: Visit, view: TableView) -> Filter:
    """What is asked for, as far as the table has such columns."""
    columns = {name for name, _, _ in view.columns}
    sort, column = visit.asked("sort"), visit.asked("column")
    return Filter(
        sort=sort if sort in columns else "",
        down=visit.asked("down") == "1",
        column=column if column in columns else "",
        text=visit.asked("q")[:200],
        key=visit.asked("key")[:200],
    )


def _where(view: TableView, asked: Filter) -> str:
    terms: list[str] = []
    keys = [name for name, is_key, _ in view.columns if is_key]
    if asked.key and keys:
        terms.append(f"CAST({quoted(keys[0])} AS TEXT) = {sql_literal(asked.key)}")
    if asked.text:
        columns = [asked.column] if asked.column else [name for name, _, _ in view.columns]
        wanted = sql_literal(asked.text.lower())
        terms.append("(" + " OR ".join(f"instr(lower({quoted(name)}), {wanted}) > 0" for name in columns) + ")")
    return f" WHERE {' AND '.join(terms)}" if terms else ""


def _select(view: TableView, asked: Filter, where: str, offset: int) -> str:
    keys = [quoted(name) for name, is_key, _ in view.columns if is_key]
    order = [f"{quoted(asked.sort)} {'DESC' if asked.down else 'ASC'}"] if asked.sort else []
    ordered = ", ".join([*order, *(keys or ["1"])])
    columns = ", ".join(quoted(name) for name, _, _ in view.columns)
    return (
        f"SELECT {columns} FROM main.{quoted(view.name)}{where} ORDER BY {ordered} LIMIT {ROWS_A_PAGE} OFFSET {offset}"
    )


def _order(lease: Lease, sql: str, limit: int) -> QueryOrder:
    return QueryOrder(instance=lease.instance, sql=sql, limit=limit)
