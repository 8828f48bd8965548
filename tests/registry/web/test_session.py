"""Who is let in: a link once, a cookie for its time, and forms of one's own session only."""

from pathlib import Path

import httpx
import pytest

from registry.farm import Options, running
from registry.web.session import LINK_SECONDS, SESSION_SECONDS, Sessions, is_own_form, one_time_link
from tests.registry.web.browsers import Visitor, visited

TOKEN = "the-token-of-the-farm"


class Hand:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def code_of(link: str) -> str:
    return link.partition("code=")[2]


def entered(sessions: Sessions, clock: Hand, token: str = TOKEN) -> dict[str, str]:
    cookie = sessions.opened(code_of(one_time_link("http://x", token, clock=clock)))
    assert cookie is not None
    return {sessions.cookie: cookie}


def test_a_link_works_once() -> None:
    clock = Hand()
    sessions = Sessions(TOKEN, clock=clock)
    code = code_of(one_time_link("http://x", TOKEN, clock=clock))
    assert sessions.opened(code) is not None
    assert sessions.opened(code) is None


def test_a_link_is_refused_when_it_is_old_or_of_another_farm_or_from_before_a_restart() -> None:
    clock = Hand()
    sessions = Sessions(TOKEN, clock=clock)
    code = code_of(one_time_link("http://x", TOKEN, clock=clock))
    clock.now += LINK_SECONDS + 2
    assert sessions.opened(code) is None
    assert sessions.opened(code_of(one_time_link("http://x", "another", clock=clock))) is None
    before = code_of(one_time_link("http://x", TOKEN, clock=clock))
    clock.now += 5
    assert Sessions(TOKEN, clock=clock).opened(before) is None
    for wrong in ("", ".", "..", "1.2.3", f"9{before}", "é.é.é", before[:-1]):
        assert sessions.opened(wrong) is None


def test_a_cookie_outlives_a_restart_and_ends_at_its_time_or_with_another_token() -> None:
    clock = Hand()
    sessions = Sessions(TOKEN, clock=clock)
    cookies = entered(sessions, clock)
    restarted = Sessions(TOKEN, clock=clock)
    assert restarted.session(cookies) is not None
    assert Sessions("another", clock=clock).session(cookies) is None
    assert sessions.session({sessions.cookie: f"{cookies[sessions.cookie]}0"}) is None
    assert sessions.session({sessions.cookie: "é"}) is None
    clock.now += SESSION_SECONDS + 1
    assert restarted.session(cookies) is None


def test_a_form_is_of_one_session_and_a_session_can_be_ended() -> None:
    clock = Hand()
    sessions = Sessions(TOKEN, clock=clock)
    one, other = (sessions.session(entered(sessions, clock)) for _ in range(2))
    assert one is not None
    assert other is not None
    assert is_own_form(one, one.csrf)
    assert not is_own_form(one, other.csrf)
    assert not is_own_form(one, "")
    cookies = entered(sessions, clock)
    third = sessions.session(cookies)
    assert third is not None
    sessions.end(third)
    assert sessions.session(cookies) is None


PAGES = (
    "/",
    "/instances",
    "/farm",
    "/environments/shop",
    "/instances/0123456789abcdef/events",
    "/nowhere",
    "/favicon.ico",
)
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
"""What a browser accepts where a person reads. Others, such as MCP clients, get 404 in JSON."""


async def test_without_a_cookie_there_is_a_page_that_says_how_to_come_in(shelf: Path, tmp_path: Path) -> None:
    async with visited(shelf, tmp_path / "state") as visitor, httpx.AsyncClient(base_url=visitor.address.url) as http:
        for path in PAGES:
            answer = await http.get(path, headers=BROWSER)
            assert answer.status_code == 401
            assert "farm open" in answer.text
            assert "shop" not in answer.text
            for program in (await http.get(path), await http.post(path)):
                assert (program.status_code, program.json()["error"]["kind"]) == (404, "not_found")
        for path in ("/.well-known/oauth-protected-resource/i/x/mcp", "/register", "/token", "/authorize"):
            for answer in (await http.get(path), await http.post(path)):
                assert (answer.status_code, answer.json()["error"]["kind"]) == (404, "not_found")
        posted = await http.post("/instances", data={"environment": "shop"}, headers=BROWSER)
        assert posted.status_code == 401
        assert (await http.get("/static/pages.js")).status_code == 200
        assert (await http.get("/static/../app.py")).status_code in (401, 404)
        wrong = await http.get("/login?code=1.2.3")
        assert wrong.status_code == 401
        assert "set-cookie" not in wrong.headers


async def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(shelf: Path, tmp_path: Path) -> None:
    async with (
        running(Options(library=(shelf,), state=tmp_path / "state", port=0)) as address,
        httpx.AsyncClient(base_url=address.url) as http,
    ):
        answer = await http.get(one_time_link(address.url, address.token))
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=strict" in cookie.lower()
        assert address.token not in cookie + one_time_link(address.url, address.token)
        assert (await http.get("/v1/workers")).status_code == 401  # it opens the pages, not the API


async def test_every_page_has_the_policy(shelf: Path, tmp_path: Path) -> None:
    async with visited(shelf, tmp_path / "state") as visitor:
        for path in ("/", "/environments/shop", "/nowhere", "/static/pages.js", "/login"):
            answer = await visitor.http.get(path)
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-frame-options"] == "DENY"
            assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["/instances", "/instances/close", "/farm/drain", "/logout", "/instances/0123456789abcdef/close"]
)
async def test_what_changes_something_wants_the_proof_of_an_own_page(path: str, shelf: Path, tmp_path: Path) -> None:
    async with visited(shelf, tmp_path / "state") as visitor:
        form = {"environment": "shop", "worker": "worker-1", "drains": "1"}
        for wrong in ({}, {"csrf": ""}, {"csrf": "0" * 64}):
            assert (await visitor.http.post(path, data={**form, **wrong})).status_code == 403
        foreign = {"Origin": "http://127.0.0.1:1"}
        csrf = await own_csrf(visitor)
        assert (await visitor.http.post(path, data={**form, "csrf": csrf}, headers=foreign)).status_code == 403
        assert (await visitor.client.leases()).total == 0
        assert (await visitor.http.get("/")).status_code == 200


async def own_csrf(visitor: Visitor) -> str:
    return (await visitor.page("/")).partition('name="csrf" value="')[2][:64]


async def test_a_request_under_another_name_is_refused(shelf: Path, tmp_path: Path) -> None:
    async with visited(shelf, tmp_path / "state") as visitor:
        assert (await visitor.http.get("/", headers={"Host": "evil.example"})).status_code == 421


async def test_a_farm_without_pages_has_none(shelf: Path, tmp_path: Path) -> None:
    async with (
        running(Options(library=(shelf,), state=tmp_path / "state", port=0, web=False)) as address,
        httpx.AsyncClient(base_url=address.url) as http,
    ):
        answer = await http.get("/")
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/json")
        assert (await http.get("/login")).status_code == 404
