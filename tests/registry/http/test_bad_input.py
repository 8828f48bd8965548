"""What nobody should send: each is answered in the one form of errors, without a traceback or a path of ours."""

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio
from mcp.types import JSONRPCError

from registry.http.app import control_app
from registry.messages import LARGEST_BODY, LARGEST_ORDER, MOST_VALUES, Error
from servers.bundle_library import Library
from servers.doors.control import ControlDoor
from servers.joining.proofs import ControlTokens
from tests.registry.farms import TOKEN, Clock, Farm, running

ROUTES = [
    ("GET", "/v1/environments"),
    ("GET", "/v1/environments/shop"),
    ("GET", "/v1/environments/shop/scenarios"),
    ("GET", "/v1/environments/shop/scenarios/dearer"),
    ("POST", "/v1/instances"),
    ("GET", "/v1/instances"),
    ("GET", "/v1/instances/0123456789abcdef"),
    ("POST", "/v1/instances/0123456789abcdef/score"),
    ("GET", "/v1/workers"),
    ("GET", "/v1/nowhere"),
    ("GET", "/metrics"),
]


@pytest_asyncio.fixture(scope="module")
async def open_farm(shelf: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Farm]:
    async with running(Library([shelf]), tmp_path_factory.mktemp("refusing") / "farm", Clock()) as farm:
        yield farm


@pytest_asyncio.fixture
async def farm(open_farm: Farm) -> AsyncGenerator[Farm]:
    """The farm of all tests here. Each finds it without instances."""
    yield open_farm
    for instance in open_farm.worker.ids():
        await open_farm.client.close(instance)


@pytest_asyncio.fixture
async def stranger(farm: Farm) -> AsyncGenerator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=farm.url) as http:
        yield http


def problem(answer: httpx.Response, farm: Farm) -> tuple[int, str]:
    """An answer's status and kind, once it is known to be an error as it should be."""
    error = Error.model_validate_json(answer.content).error
    assert answer.headers["content-type"] == "application/json"
    assert "Traceback" not in answer.text
    assert str(farm.folder.parent) not in answer.text
    assert len(error.message) <= 2001
    return answer.status_code, error.kind


async def test_without_the_token_nothing_is_read(farm: Farm, stranger: httpx.AsyncClient) -> None:
    [lease] = await farm.client.launch("shop")
    wrong = ["", "Bearer", "Bearer wrong", TOKEN, f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer {lease.token}"]
    for headers in ({}, *({"Authorization": given} for given in wrong)):
        for method, path in ROUTES:
            answer = await stranger.request(method, path, headers=headers, content=b"{")
            assert problem(answer, farm) == (401, "unauthorized")
            assert answer.headers["WWW-Authenticate"] == "Bearer"
            assert TOKEN not in answer.text


async def test_a_mistyped_door_says_where_agents_connect(stranger: httpx.AsyncClient) -> None:
    for path in ("/", "/mcp", "/sse"):
        answer = await stranger.post(path, json={"jsonrpc": "2.0", "id": 1, "method": "initialize"})
        error = JSONRPCError.model_validate_json(answer.content).error
        assert answer.status_code == 404
        assert "an agent connects to the mcp_url of its lease" in error.message


async def test_a_body_that_is_not_json_is_refused(farm: Farm) -> None:
    for body in (b"", b"{", b"environment=shop", b"\xff\xfe", b"[" * 999, b"NaN,"):
        answer = await farm.http.post("/v1/instances", content=body, headers={"Content-Type": "application/json"})
        assert problem(answer, farm) in ((400, "invalid"), (422, "invalid"))


async def test_json_that_does_not_say_so_is_refused(farm: Farm) -> None:
    answer = await farm.http.post("/v1/instances", content=b'{"environment": "shop"}')
    assert problem(answer, farm) == (422, "invalid")


async def test_a_body_that_is_encoded_is_refused(farm: Farm) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "gzip"}
    answer = await farm.http.post("/v1/instances", content=b'{"environment": "shop"}', headers=headers)
    assert problem(answer, farm) == (415, "invalid")
    assert farm.worker.ids() == []


@pytest.mark.parametrize("body", [b'{"environment": "shop", "environment": "other"}', b'{"a": [{"b": 1, "b": 1}]}'])
async def test_a_body_with_a_key_twice_is_refused(farm: Farm, body: bytes) -> None:
    """Its readers differ in which of the two they take."""
    answer = await farm.http.post("/v1/instances", content=body, headers={"Content-Type": "application/json"})
    assert problem(answer, farm) == (400, "invalid")
    assert "twice in one object" in answer.json()["error"]["message"]
    assert farm.worker.ids() == []


WRONG_ORDERS: list[Any] = [
    [],
    None,
    "shop",
    {},
    {"environment": 7},
    {"environment": "../shop"},
    {"environment": "shop", "scenario": "../dearer"},
    {"environment": "shop", "scenario": ["dearer"]},
    {"environment": "shop", "count": 0},
    {"environment": "shop", "count": 1001},
    {"environment": "shop", "count": "many"},
    {"environment": "shop", "ttl_seconds": 9},
    {"environment": "shop", "ttl_seconds": 604_801},
    {"environment": "shop", "seed": 2**63},
    {"environment": "shop", "seed": -1},
    {"environment": "shop", "colour": "red"},
    {"environment": "shop\x00"},
]


async def test_an_order_of_the_wrong_form_is_refused(farm: Farm) -> None:
    for order in WRONG_ORDERS:
        assert problem(await farm.http.post("/v1/instances", json=order), farm) == (422, "invalid"), order
    assert farm.worker.ids() == []


async def test_an_order_says_which_field_is_wrong(farm: Farm) -> None:
    answer = await farm.http.post("/v1/instances", json={"environment": "shop", "count": 1001, "colour": "red"})
    message = answer.json()["error"]["message"]
    assert "body.count: must be at most 1000" in message
    assert "body.colour: no such key" in message


async def test_text_that_is_no_unicode_is_refused(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    for body in (b'{"\\ud800": 1, "environment": "shop"}', b'{"environment": "\\ud800"}'):
        answer = await farm.http.post("/v1/instances", content=body, headers={"Content-Type": "application/json"})
        assert problem(answer, farm) == (422, "invalid")
    answer = await farm.http.post(
        f"/v1/instances/{instance}/score",
        content=b'{"answer": "\\ud800"}',
        headers={"Content-Type": "application/json"},
    )
    assert problem(answer, farm) == (422, "invalid")


async def test_a_body_that_is_too_large_is_refused_announced_or_not(farm: Farm) -> None:
    large = b'{"environment": "' + b"x" * LARGEST_BODY + b'"}'

    async def in_pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(large), 65536):
            yield large[start : start + 65536]

    for content in (large, in_pieces()):
        answer = await farm.http.post("/v1/instances", content=content, headers={"Content-Type": "application/json"})
        assert problem(answer, farm) == (413, "too_large")


async def test_a_route_takes_no_larger_body_than_it_needs(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    headers = {"Content-Type": "application/json"}
    padding = b" " * LARGEST_ORDER
    for method, path in (
        ("POST", "/v1/instances"),
        ("POST", f"/v1/instances/{instance}/fork"),
        ("POST", f"/v1/instances/{instance}/rewind"),
        ("POST", f"/v1/instances/{instance}/reset"),
        ("POST", "/v1/health"),
        ("GET", "/v1/environments"),
        ("DELETE", f"/v1/instances/{instance}"),
    ):
        answer = await farm.http.request(method, path, content=b"{}" + padding, headers=headers)
        assert problem(answer, farm) == (413, "too_large")
        assert answer.json()["error"]["message"] == "the body is larger than 64 KiB"
    answer = await farm.http.post(f"/v1/instances/{instance}/query", content=b"{}" + 16 * padding, headers=headers)
    assert problem(answer, farm) == (413, "too_large")
    assert (
        await farm.http.post(f"/v1/instances/{instance}/score", content=b"{}" + padding, headers=headers)
    ).is_success


async def test_a_body_of_many_values_is_refused_before_it_is_read(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    values = b"[" + b"1," * MOST_VALUES + b"1]"
    path = f"/v1/instances/{instance}/score"
    answer = await farm.http.post(path, content=values, headers={"Content-Type": "application/json"})
    assert problem(answer, farm) == (413, "too_large")
    assert (await farm.http.post(path, json={"answer": values.decode()})).is_success


async def test_an_answer_or_a_query_past_its_bound_is_refused(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    answer = await farm.http.post(f"/v1/instances/{instance}/score", json={"answer": "x" * 1_000_001})
    assert problem(answer, farm) == (422, "invalid")
    answer = await farm.http.post(f"/v1/instances/{instance}/query", json={"sql": "x" * 100_001})
    assert problem(answer, farm) == (422, "invalid")
    answer = await farm.http.post(f"/v1/instances/{instance}/rewind", json={"call": -1})
    assert problem(answer, farm) == (422, "invalid")


STRANGE_NAMES = ["..%2Fshop", "%2e%2e%2f%2e%2e", "x" * 5000, "%00", "%ff", "a b", "'; DROP TABLE leases", "🦉"]


async def test_a_path_that_names_nothing_is_not_found_or_refused(farm: Farm) -> None:
    instance = await farm.launched()
    for name in STRANGE_NAMES:
        for path in (
            f"/v1/environments/{name}",
            f"/v1/environments/shop/scenarios/{name}",
            f"/v1/instances/{name}",
            f"/v1/instances/{name}/state",
            f"/v1/instances/{instance}/state/{name}",
        ):
            status, _ = problem(await farm.http.get(path), farm)
            assert status in (404, 422), path


async def test_a_page_that_cannot_be_is_refused(farm: Farm) -> None:
    for query in ("limit=0", "limit=1001", "limit=x", "offset=-1", "offset=99999999999999999999", "status=dead"):
        assert problem(await farm.http.get(f"/v1/instances?{query}"), farm) == (422, "invalid"), query


async def test_what_is_not_a_route_or_not_its_method_is_said_to_be_so(farm: Farm) -> None:
    assert problem(await farm.http.get("/v1/nowhere"), farm) == (404, "not_found")
    answer = await farm.http.put("/v1/instances")
    assert problem(answer, farm) == (405, "method_not_allowed")
    assert answer.headers["Allow"]


async def test_a_path_with_nothing_behind_it_says_where_to_look(farm: Farm) -> None:
    for path, said in (
        ("/v1/instances/", "there is nothing at /v1/instances/; without the slash at its end, /v1/instances is a path"),
        ("/v1/nowhere", "there is nothing at /v1/nowhere; /v1/docs lists the paths of the API"),
        ("/v1/nowhere/", "there is nothing at /v1/nowhere/; /v1/docs lists the paths of the API"),
    ):
        answer = await farm.http.get(path)
        assert problem(answer, farm) == (404, "not_found")
        assert answer.json()["error"]["message"].startswith(said)


async def test_health_is_answered_to_head_as_to_get_but_for_the_body(farm: Farm, stranger: httpx.AsyncClient) -> None:
    asked, got = await stranger.head("/v1/health"), await stranger.get("/v1/health")
    assert (asked.status_code, asked.content) == (200, b"")
    assert asked.headers["content-length"] == got.headers["content-length"] == str(len(got.content))
    assert asked.headers["content-type"] == got.headers["content-type"]


async def test_a_refusal_at_the_door_of_a_worker_has_a_kind_of_the_api(farm: Farm) -> None:
    door = ControlDoor(farm.worker, ControlTokens("its own"), loopback_only=True)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://127.0.0.1:8701") as http:
        for method, path, headers, expected in (
            ("GET", "/v1/health", {}, (404, "not_found")),
            ("POST", "/w/ids", {}, (401, "unauthorized")),
            ("GET", "/w/ids", {"Authorization": "Bearer its own"}, (405, "method_not_allowed")),
            ("POST", "/w/ids", {"Host": "evil.example"}, (421, "misled")),
        ):
            assert problem(await http.request(method, path, headers=headers), farm) == expected


async def test_where_nothing_is_nobody_is_asked_for_a_token_or_told_of_one(
    farm: Farm, stranger: httpx.AsyncClient
) -> None:
    """Clients of agents look for OAuth at the root of a host; what they find is 404, and no word about tokens."""
    paths = ["/", "/favicon.ico", "/register", "/token", "/authorize", "/mcp", "/v1", "/docs", "/openapi.json"]
    paths += [f"/.well-known/{name}" for name in ("oauth-protected-resource", "oauth-authorization-server/i/x/mcp")]
    for path in paths:
        for http in (stranger, farm.http):
            for method in ("GET", "POST", "OPTIONS"):
                answer = await http.request(method, path)
                assert problem(answer, farm) == (404, "not_found")
                assert "token" not in answer.text


async def test_the_scheme_of_the_token_is_read_in_any_case(farm: Farm, stranger: httpx.AsyncClient) -> None:
    for given in (f"bearer {TOKEN}", f"BEARER   {TOKEN}"):
        answer = await stranger.get("/v1/workers", headers={"Authorization": given})
        assert answer.status_code == 200


LAX_ORDERS: list[tuple[str, dict[str, Any]]] = [
    ("rewind", {"call": False}),
    ("rewind", {"call": "0"}),
    ("rewind", {"call": None}),
    ("rewind", {"call": 0.5}),
    ("score", {"close": 0}),
    ("score", {"close": "false"}),
    ("score", {"answer": 5}),
    ("fork", {"count": True}),
    ("fork", {"count": "1"}),
    ("query", {"sql": "SELECT 1", "limit": "60"}),
    ("query", {"sql": ["SELECT 1"]}),
]


async def test_what_only_looks_like_an_order_is_refused(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    await farm.call(instance, "price", id="t2", cents=250)
    for name, order in LAX_ORDERS:
        answer = await farm.http.post(f"/v1/instances/{instance}/{name}", json=order)
        assert problem(answer, farm) == (422, "invalid"), (name, order)
    for order in ({"count": True}, {"count": "1"}, {"ttl_seconds": "60"}, {"seed": False}, {"seed": 2**53}):
        answer = await farm.http.post("/v1/instances", json={"environment": "shop", **order})
        assert problem(answer, farm) == (422, "invalid"), order
    assert farm.worker.ids() == [instance]
    assert (await farm.worker.standing(instance)).calls == 1


async def test_an_integer_may_be_written_with_a_point(farm: Farm) -> None:
    answer = await farm.http.post("/v1/instances", json={"environment": "shop", "count": 1.0, "seed": 2**53 - 1})
    assert answer.status_code == 201
    assert answer.json()["items"][0]["seed"] == 2**53 - 1


async def test_a_query_has_what_is_published_and_nothing_else(farm: Farm) -> None:
    for query in ("limit=true", "limit=1.0", "limit=%201", "limit=1_0", "limit=%2B1", "limit=01", "limit=", "limit=٣"):
        assert problem(await farm.http.get(f"/v1/instances?{query}"), farm) == (422, "invalid"), query
    answer = await farm.http.get("/v1/instances?stauts=live&limit=1&limit=2")
    assert problem(answer, farm) == (422, "invalid")
    message = answer.json()["error"]["message"]
    assert "query.stauts: no such name; there are: status, environment, offset, limit" in message
    assert "query.limit: given twice" in message
    assert problem(await farm.http.get("/v1/health?verbose=1"), farm) == (422, "invalid")
    told = (await farm.http.get("/v1/instances?limit=1.0")).json()["error"]["message"]
    assert told == "query.limit: an integer is written in digits"


async def test_a_body_where_none_is_published_is_refused(farm: Farm) -> None:
    instance = await farm.launched("dearer")
    before = (await farm.http.get(f"/v1/instances/{instance}")).json()
    answer = await farm.http.post(f"/v1/instances/{instance}/heartbeat", json={"ttl_seconds": 5})
    assert problem(answer, farm) == (422, "invalid")
    assert answer.json()["error"]["message"] == "body: this request takes none"
    assert (await farm.http.get(f"/v1/instances/{instance}")).json() == before


async def test_the_openapi_is_made_before_the_first_request(farm: Farm) -> None:
    assert control_app(farm.registry, token="another").openapi_schema is not None


async def test_allow_names_every_method_of_a_path(farm: Farm) -> None:
    instance = await farm.launched()
    for path, allowed in (
        ("/v1/instances", "GET, POST"),
        (f"/v1/instances/{instance}", "DELETE, GET"),
        (f"/v1/instances/{instance}/rewind", "POST"),
        ("/metrics", "GET"),
        ("/v1/health", "GET, HEAD"),
    ):
        answer = await farm.http.request("PATCH", path)
        assert (problem(answer, farm), answer.headers["Allow"]) == ((405, "method_not_allowed"), allowed)


async def test_a_body_without_its_content_type_is_told_what_it_lacks(farm: Farm) -> None:
    for content_type in ({}, {"Content-Type": "text/plain"}):
        answer = await farm.http.post("/v1/instances", content=b'{"environment": "shop"}', headers=content_type)
        assert problem(answer, farm) == (422, "invalid")
        assert answer.json()["error"]["message"] == "the body needs the header Content-Type: application/json"


async def test_no_answer_leads_to_another_host(farm: Farm) -> None:
    for path in ("/v1/instances/", "/v1/environments/", "/v1/..//evil.example/", "/v1//instances", "/v1/docs/"):
        answer = await farm.http.get(path, headers={"Host": "evil.example"})
        assert answer.status_code == 404, path
        assert "location" not in answer.headers


async def test_a_farm_on_loopback_answers_to_no_other_name(farm: Farm) -> None:
    door = control_app(farm.registry, token=TOKEN, loopback_only=True)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(door), base_url="http://127.0.0.1:8700") as http:
        assert (await http.get("/v1/health")).status_code == 200
        for odd, status in (
            ({"Host": "evil.example"}, 421),
            ({"Host": "localhost.evil.example:8700"}, 421),
            ({"Origin": "http://evil.example"}, 403),
            ({"Origin": "null"}, 403),
        ):
            for path in ("/v1/health", "/v1/instances", "/"):
                assert problem(await http.get(path, headers=headers | odd), farm) == (status, "misled")
        for fine in ({"Host": "localhost:1"}, {"Host": "[::1]:8700"}, {"Origin": "http://localhost:3000"}):
            assert (await http.get("/v1/workers", headers=headers | fine)).status_code == 200
