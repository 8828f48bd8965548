"""The pages as one ASGI application: addresses, who may come in, headers of every answer, and pages about errors."""

import asyncio
import gzip
import json
import zlib
from collections.abc import Awaitable, Callable, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlsplit

import jinja2
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from registry.leases import Registry
from registry.web.assets import asset_url, serve_asset
from registry.web.policy_text import rendered
from registry.web.session import CODE, Sessions, WebSession, is_own_form
from registry.web.wording import FILTERS
from servers.doors.operations import AT_START, StartOrder
from servers.doors.request import TooLarge, again, body_of, header, headers_of, misled
from servers.errors import CapacityError, Conflict, FarmError, InfraError, NotFound, RequestError
from servers.limits.recent_values import RecentValues
from servers.messages import StartTable
from servers.text.terminal import clean

LARGEST_FORM = 1024 * 1024
"""Bytes of a form. A call with more arguments is an agent's."""
MOST_FIELDS = 1000
SAMPLE_ROWS = 5
"""Rows of each table on the page of an environment."""
MOST_STARTS = 200
"""Environments whose first rows are remembered."""
MOST_STARTS_BYTES = 1024 * 1024
"""Characters of these rows."""
MOST_SECTIONS_BYTES = 1024 * 1024
"""Bytes of the parts of pages that are kept, compressed."""
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self';"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
OPEN = ("/login", "/static/")
"""Addresses that need no cookie."""
STATUS: tuple[tuple[type[FarmError], int], ...] = (
    (NotFound, 404),
    (Conflict, 409),
    (RequestError, 422),
    (CapacityError, 503),
    (InfraError, 503),
)
LEAST_GZIPPED = 4096
"""Bytes of a page from which on it is compressed."""
GZIP_LEVEL = 1
RETRY_SECONDS = 5
"""What a page that is refused for now tells a browser to wait."""
OWN_SITE = ("", "same-origin", "none")
"""What a browser may say about where a form comes from: nothing, a page of ours, or its user."""
TEMPLATES = Path(__file__).parent / "templates"
OAUTH = ("/.well-known/", "/register", "/token", "/authorize")
"""Where agents' clients look for OAuth. A page about signing in would mislead them."""
API = ("/v1/", "/metrics", *OAUTH)

PageView = Callable[["Visit"], Awaitable[Response]]


class Pages:
    """What all pages share: the registry, the sessions and the templates."""

    def __init__(self, registry: Registry, sessions: Sessions) -> None:
        self.registry = registry
        self.sessions = sessions
        self.stopping = asyncio.Event()
        self._starts = RecentValues[str, list[StartTable]](
            MOST_STARTS, MOST_STARTS_BYTES, lambda tables: len(repr(tables))
        )
        self._sections = RecentValues[tuple[str, Hashable], bytes](MOST_STARTS, MOST_SECTIONS_BYTES, len)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        self._templates.filters.update(
            {**FILTERS, "policy": rendered, "part": lambda text: quote(str(text), safe=""), "asset": asset_url}
        )

    async def drawn(self, template: str, code: int = 200, *, gzipped: bool = False, **values: Any) -> Response:
        """A page, in which no text of a stranger reorders or hides what stands beside it.

        It is written in a thread, since such texts may be long. If it is short, it is not compressed.
        """
        found = self._templates.get_template(template)

        def written() -> Response:
            body, headers = clean(found.render(**values)).encode("utf-8", "replace"), dict[str, str]()
            if gzipped and len(body) >= LEAST_GZIPPED:
                body, headers = gzip.compress(body, GZIP_LEVEL), {"Content-Encoding": "gzip"}
            return Response(body, status_code=code, headers=headers, media_type="text/html; charset=utf-8")

        return await asyncio.to_thread(written)

    async def section(self, template: str, key: Hashable, values: Callable[[], Mapping[str, Any]]) -> Markup:
        """A part of a page that is the same for all readers, as long as its key is. It holds no form."""
        found = self._sections.find((template, key))
        if found is None:
            drawn = self._templates.get_template(template)
            found = await asyncio.to_thread(lambda: _packed(drawn.render(**values())))
            self._sections.keep((template, key), found)
        return Markup(zlib.decompress(found).decode())  # noqa: S704 - a template wrote it, and has escaped what it holds

    async def start_tables(self, environment: str, digest: str) -> list[StartTable]:
        """The tables of an environment at its start, with some rows.

        Raises:
            BundleError: it cannot be started.
            CapacityError: no worker answers.
        """
        tables = self._starts.find(digest)
        if tables is None:
            seat = next((seat for seat in self.registry.fleet.seats.values() if seat.answers), None)
            if seat is None:
                raise CapacityError("no worker answers now, so the tables are not shown")
            tables = await seat.door.ask(AT_START, StartOrder(environment=environment, rows=SAMPLE_ROWS))
            self._starts.keep(digest, tables)
        return tables

    def stop(self) -> None:
        """End the live pages, so that the farm need not wait for them."""
        self.stopping.set()


@dataclass(frozen=True)
class Visit:
    """One request of a browser that was let in."""

    pages: Pages
    request: Request
    session: WebSession
    form: Mapping[str, str]

    @property
    def registry(self) -> Registry:
        return self.pages.registry

    def part(self, name: str) -> str:
        """A part of the path."""
        return self.request.path_params[name]

    def asked(self, name: str, default: str = "") -> str:
        """A value of the query."""
        return self.request.query_params.get(name, default)

    def number(self, name: str, *, most: int, default: int = 0) -> int:
        """A whole number of the query, within bounds. Anything else is the default."""
        text = self.asked(name)
        return min(int(text), most) if text.isdecimal() and len(text) < 12 else default

    async def drawn(self, template: str, code: int = 200, **values: Any) -> Response:
        path = self.request.url.path
        return await self.pages.drawn(
            template, code, gzipped=takes_gzip(self.request), csrf=self.session.csrf, path=path, **values
        )

    def go_to(self, address: str) -> Response:
        """Answer a form: the browser asks for a page again. The address is one of ours."""
        return RedirectResponse(address, status_code=303)


def web_app(pages: Pages, routes: Mapping[str, PageView], api: ASGIApp, *, loopback_only: bool) -> ASGIApp:
    """The application. `routes` are pages by `GET /path` or `POST /path`. Programs that were not let in get the API."""

    def shown(page: PageView) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await page(Visit(pages, request, request.scope["session"], request.scope["form"]))

        return answer

    async def log_in(request: Request) -> Response:
        return await _log_in(pages, request)

    found = [Route("/static/{name}", serve_asset), Route("/login", log_in)]
    for key, page in routes.items():
        method, _, path = key.partition(" ")
        found.append(Route(path, shown(page), methods=[method]))

    async def failed(request: Request, error: Exception) -> Response:
        return await _told(pages, request, error)

    handlers: dict[Any, Any] = {FarmError: failed, HTTPException: failed, Exception: failed}
    app = Starlette(routes=found, exception_handlers=handlers)
    app.router.redirect_slashes = False
    return Guarded(app, pages, api, loopback_only=loopback_only)


class WebOrApi:
    """An ASGI application: the API at its addresses, the pages elsewhere."""

    def __init__(self, pages: ASGIApp, api: ASGIApp) -> None:
        self._pages = pages
        self._api = api

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_api = scope["type"] != "http" or scope["path"].startswith(API)
        await (self._api if is_api else self._pages)(scope, receive, send)


class Guarded:
    """ASGI middleware: the cookie, the proof of a form, the size of a body, and the headers of every answer."""

    def __init__(self, app: ASGIApp, pages: Pages, api: ASGIApp, *, loopback_only: bool) -> None:
        self._app = app
        self._pages = pages
        self._api = api
        self._loopback_only = loopback_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        send = _with_headers(send)
        headers = headers_of(scope)
        wrong = misled(headers) if self._loopback_only else None
        request = Request(scope)
        if wrong is not None:
            await Response(wrong[1], status_code=wrong[0], media_type="text/plain")(scope, receive, send)
            return
        session = self._pages.sessions.session(request.cookies)
        scope["session"], scope["form"] = session, {}
        if session is None and not scope["path"].startswith(OPEN):
            answer: ASGIApp = self._api  # an agent's client, or a picture: a page about signing in would mislead it
            if "text/html" in header(headers, b"accept"):
                answer = await self._pages.drawn("login.html", 401, why="", csrf="", path="")
            await answer(scope, receive, send)
            return
        if scope["method"] == "POST":
            await self._form(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _form(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a form on if it is one of this session's own pages."""
        try:
            body = await body_of(scope, receive, LARGEST_FORM)
            form = dict(parse_qsl((body or b"").decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
        except (TooLarge, ValueError):
            answer = await self._refusal(scope, 413, "Too large", _TOO_LARGE)
            await answer(scope, receive, send)
            return
        if body is None:
            return
        session: WebSession | None = scope["session"]
        if session is None or not is_own_form(session, form.get("csrf", "")) or _is_from_elsewhere(scope):
            answer = await self._refusal(scope, 403, "Not from here", _NOT_OURS)
            await answer(scope, receive, send)
            return
        scope["form"] = form
        await self._app(scope, again(body, receive), send)

    async def _refusal(self, scope: Scope, status: int, title: str, message: str) -> Response:
        """The page that says why a form is not taken."""
        ways = _ways_on(Request(scope))
        return await self._pages.drawn("error.html", status, title=title, message=message, csrf="", path="", ways=ways)


_TOO_LARGE = f"A form has at most {LARGEST_FORM // 1024} KiB and {MOST_FIELDS:,} fields."
_NOT_OURS = "This form is not of a page of this session. Go back, load the page again and repeat it."


def _is_from_elsewhere(scope: Scope) -> bool:
    """True if a browser says that the form is of another site, or of another port of this one."""
    headers = headers_of(scope)
    origin = header(headers, b"origin")
    is_foreign = bool(origin) and origin.partition("://")[2] != header(headers, b"host")
    return is_foreign or header(headers, b"sec-fetch-site") not in OWN_SITE


def _with_headers(send: Send) -> Send:
    fixed = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]

    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name for name, _ in message["headers"]}
            cache = [] if b"cache-control" in own else [(b"cache-control", b"no-store")]
            message = {**message, "headers": [*message["headers"], *fixed, *cache]}
        await send(message)

    return sending


async def _log_in(pages: Pages, request: Request) -> Response:
    """Let a browser in by a one-time link, and show it the gallery. The code does not stay in the address."""
    cookie = pages.sessions.opened(request.query_params.get(CODE, ""))
    if cookie is None:
        if pages.sessions.session(request.cookies) is not None:
            return RedirectResponse("/", status_code=303)
        why = "This link was used, or is too old, or is of another farm." if request.query_params else ""
        return await pages.drawn("login.html", 401, why=why, csrf="", path="")
    answer = await pages.drawn("entered.html", csrf="", path="")  # no redirect: a link in a mail would lose the cookie
    answer.set_cookie(pages.sessions.cookie, cookie, httponly=True, samesite="strict", path="/")
    return answer


async def log_out(visit: Visit) -> Response:
    """End the session."""
    visit.pages.sessions.end(visit.session)
    answer = visit.go_to("/login")
    answer.delete_cookie(visit.pages.sessions.cookie, httponly=True, samesite="strict", path="/")
    return answer


async def _told(pages: Pages, request: Request, error: Exception) -> Response:
    """A page about an error. What the farm did not foresee is not shown; its log has it."""
    if isinstance(error, HTTPException) and (elsewhere := _page_instead(request, error.status_code)):
        return RedirectResponse(elsewhere, status_code=303)
    if isinstance(error, HTTPException):
        status, message = error.status_code, "There is no such page." if error.status_code == 404 else error.detail
    elif isinstance(error, FarmError):
        status = next((code for kind, code in STATUS if isinstance(error, kind)), 422)
        message = pages.registry.catalogue.without_folders(str(error))
    else:
        status, message = 500, "The farm failed at this page; its log says why."
    title = {404: "Not there", 409: "Not now", 503: "No room, or trouble"}.get(status, "That did not work")
    session: WebSession | None = request.scope.get("session")
    values: dict[str, Any] = {
        "title": title,
        "message": message[:4000],
        "csrf": session.csrf if session else "",
        "path": "",
        "ways": _ways_on(request),
    }
    answer = await pages.drawn("error.html", status, **values)
    if status == 503:
        answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def _page_instead(request: Request, status: int) -> str:
    """The page that is meant by an address of a form, or by one with a slash at its end. Empty if none is."""
    path = request.scope["path"]
    if request.method not in ("GET", "HEAD") or {".", ".."} & set(path.split("/")):
        return ""
    if status == 405:
        return _own_address(path.rpartition("/")[0])
    if status == 404 and path.endswith("/") and path.strip("/"):
        query = request.url.query
        return f"{_own_address(path)}{'?' if query else ''}{query}"
    return ""


def _own_address(path: str) -> str:
    """An address of this site, whatever the path begins or ends with."""
    return f"/{quote(path.strip('/'), safe='/')}"


def _ways_on(request: Request) -> list[tuple[str, str]]:
    """Where a page about an error leads: to the page it came from, to the list that it is of, to the gallery."""
    path, ways = request.scope["path"], list[tuple[str, str]]()
    try:
        came = urlsplit(request.headers.get("referer", ""))
    except ValueError:
        came = urlsplit("")
    is_own = bool(came.netloc) and came.netloc == request.headers.get("host")
    if is_own and came.path.strip("/") not in ("", path.strip("/"), "instances", "runs", "farm"):
        ways.append(
            ("Back to where you were", f"{_own_address(unquote(came.path))}{'?' if came.query else ''}{came.query}")
        )
    if path.startswith("/instances/") and path.count("/") > 2:
        ways.append(("To the instance", _own_address("/".join(path.split("/")[:3]))))
    ways += [(f"To the {name}", f"/{name}") for name in ("instances", "runs", "farm") if path.startswith(f"/{name}")]
    return [*ways, ("To the environments", "/")]


def _packed(text: str) -> bytes:
    return zlib.compress(text.encode("utf-8", "replace"), GZIP_LEVEL)


def takes_gzip(request: Request) -> bool:
    """True if a browser reads compressed answers."""
    return "gzip" in request.headers.get("accept-encoding", "")


def json_answer(value: Any, status: int = 200) -> Response:
    """A value for a script of ours."""
    return Response(json.dumps(value), status_code=status, media_type="application/json")
