"""The pages as one ASGI application: addresses, who may come in, headers of every answer, and pages about errors."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
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
from servers.messages import StartTable
from servers.text.terminal import clean

LARGEST_FORM = 1024 * 1024
"""Bytes of a form. A call with more arguments is an agent's."""
MOST_FIELDS = 1000
SAMPLE_ROWS = 5
"""Rows of each table on the page of an environment."""
MOST_STARTS = 200
"""Environments whose first rows are remembered."""
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
RETRY_SECONDS = 5
"""What a page that is refused for now tells a browser to wait."""
OWN_SITE = ("", "same-origin", "none")
"""What a browser may say about where a form comes from: nothing, a page of ours, or its user."""
TEMPLATES = Path(__file__).parent / "templates"
API = ("/v1/", "/metrics")

Page = Callable[["Visit"], Awaitable[Response]]


class Pages:
    """What all pages share: the registry, the sessions and the templates."""

    def __init__(self, registry: Registry, sessions: Sessions) -> None:
        self.registry = registry
        self.sessions = sessions
        self.stopping = asyncio.Event()
        self._starts: dict[str, list[StartTable]] = {}
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

    async def drawn(self, template: str, code: int = 200, **values: Any) -> Response:
        """A page, in which no text of a stranger reorders or hides what stands beside it.

        It is written in a thread, since such texts may be long.
        """
        found = self._templates.get_template(template)
        text = await asyncio.to_thread(lambda: clean(found.render(**values)))
        return Response(text.encode("utf-8", "replace"), status_code=code, media_type="text/html; charset=utf-8")

    async def start_tables(self, environment: str, digest: str) -> list[StartTable]:
        """The tables of an environment at its start, with some rows.

        Raises:
            BundleError: it cannot be started.
            CapacityError: no worker answers.
        """
        if digest not in self._starts:
            seat = next((seat for seat in self.registry.fleet.seats.values() if seat.answers), None)
            if seat is None:
                raise CapacityError("no worker answers now, so the tables are not shown")
            self._starts[digest] = await seat.door.ask(AT_START, StartOrder(environment=environment, rows=SAMPLE_ROWS))
            while len(self._starts) > MOST_STARTS:
                del self._starts[next(iter(self._starts))]
        return self._starts[digest]

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
        return await self.pages.drawn(template, code, csrf=self.session.csrf, path=self.request.url.path, **values)

    def go_to(self, address: str) -> Response:
        """Answer a form: the browser asks for a page again. The address is one of ours."""
        return RedirectResponse(address, status_code=303)


def web_app(pages: Pages, routes: Mapping[str, Page], *, loopback_only: bool) -> ASGIApp:
    """The application. `routes` are pages by `GET /path` or `POST /path`."""

    def shown(page: Page) -> Callable[[Request], Awaitable[Response]]:
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
    return Guarded(app, pages, loopback_only=loopback_only)


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

    def __init__(self, app: ASGIApp, pages: Pages, *, loopback_only: bool) -> None:
        self._app = app
        self._pages = pages
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
            answer = await self._pages.drawn("error.html", 413, title="Too large", message=_TOO_LARGE, csrf="", path="")
            await answer(scope, receive, send)
            return
        if body is None:
            return
        session: WebSession | None = scope["session"]
        if session is None or not is_own_form(session, form.get("csrf", "")) or _is_from_elsewhere(scope):
            answer = await self._pages.drawn(
                "error.html", 403, title="Not from here", message=_NOT_OURS, csrf="", path=""
            )
            await answer(scope, receive, send)
            return
        scope["form"] = form
        await self._app(scope, again(body, receive), send)


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
    if isinstance(error, HTTPException):
        status, message = error.status_code, "There is no such page." if error.status_code == 404 else error.detail
    elif isinstance(error, FarmError):
        status = next((code for kind, code in STATUS if isinstance(error, kind)), 422)
        message = pages.registry.catalogue.without_folders(str(error))
    else:
        status, message = 500, "The farm failed at this page; its log says why."
    title = {404: "Not there", 409: "Not now", 503: "No room, or trouble"}.get(status, "That did not work")
    session: WebSession | None = request.scope.get("session")
    values = {"title": title, "message": message[:4000], "csrf": session.csrf if session else "", "path": ""}
    answer = await pages.drawn("error.html", status, **values)
    if status == 503:
        answer.headers["Retry-After"] = str(RETRY_SECONDS)
    return answer


def json_answer(value: Any, status: int = 200) -> Response:
    """A value for a script of ours."""
    return Response(json.dumps(value), status_code=status, media_type="application/json")
