"""What nobody should send: each is answered in the one form of errors, without a traceback or a path of ours."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any

import httpx
import pytest_asyncio

from registry.wire import LARGEST_BODY, Error
from tests.registry.farms import TOKEN, Farm

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
    ("GET", "/"),
]


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


async def test_a_body_that_is_not_json_is_refused(farm: Farm) -> None:
    for body in (b"", b"{", b"environment=shop", b"\xff\xfe", b"[" * 100_000, b"NaN,"):
        answer = await farm.http.post("/v1/instances", content=body, headers={"Content-Type": "application/json"})
        assert problem(answer, farm) in ((400, "invalid"), (422, "invalid"))


async def test_json_that_does_not_say_so_is_refused(farm: Farm) -> None:
    answer = await farm.http.post("/v1/instances", content=b'{"environment": "shop"}')
    assert problem(answer, farm) == (422, "invalid")


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
    assert "body.count: Input should be less than or equal to 1000" in message
    assert "body.colour: Extra inputs are not permitted" in message


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
