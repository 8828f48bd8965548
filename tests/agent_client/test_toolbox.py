"""The toolbox over a real MCP server: both eras, refusals, and everything that can break on the way."""

import asyncio
import math
from collections.abc import Mapping
from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from agent_client.errors import FarmUnreachable
from agent_client.toolbox import connect
from agent_client.wire import shared_http
from tests.doubles import RULES, TOKEN, Farm, serving


async def test_a_connection_has_the_rules_the_tools_and_results(url: str, farm: Farm) -> None:
    async with connect(url, TOKEN) as toolbox:
        result = await toolbox.call("borrow", {"book": "Dune"})
    assert toolbox.instructions == RULES
    assert [tool.name for tool in toolbox.tools] == ["borrow", "ponder"]
    assert toolbox.tools[0].description == "Borrow a book."
    assert toolbox.tools[0].arguments["required"] == ["book"]
    assert result.text == "loan_1: Dune"
    assert result.structured == {"loans": [{"loan_id": "loan_1", "book": "Dune", "days": 14}]}
    assert not result.is_error
    assert farm.versions_seen == {"2026-07-28"}
    assert set(farm.tokens_seen) == {f"Bearer {TOKEN}"}


async def test_what_the_server_refuses_is_a_result_that_the_agent_reads(url: str) -> None:
    async with connect(url, TOKEN) as toolbox:
        refusal = await toolbox.call("borrow", {})
        unknown = await toolbox.call("steal", {"book": "Dune"})
        after = await toolbox.call("borrow", {"book": "Dune"})
    assert (refusal.is_error, refusal.text) == (True, "borrow needs a book")
    assert (unknown.is_error, unknown.text) == (True, "no tool named steal; there are: borrow, ponder")
    assert not after.is_error


@pytest.mark.parametrize("tool", ["", "with space", "line\nbreak", "x" * 20_000, "\ud800"])
async def test_a_name_that_no_tool_can_have_is_refused_here(url: str, farm: Farm, tool: str) -> None:
    async with connect(url, TOKEN) as toolbox:
        result = await toolbox.call(tool, {})
    assert result.is_error
    assert result.text.endswith("there are: borrow, ponder")
    assert farm.calls == []


@pytest.mark.parametrize("arguments", [{"book": math.nan}, {"book": "\ud800"}, {"book": object()}])
async def test_arguments_that_no_wire_can_carry_do_not_break_the_connection(
    url: str, arguments: Mapping[str, Any]
) -> None:
    async with connect(url, TOKEN) as toolbox:
        result = await toolbox.call("borrow", arguments)
        after = await toolbox.call("borrow", {"book": "Dune"})
    assert result.is_error
    assert "cannot be sent" in result.text
    assert not after.is_error


async def test_arguments_too_large_for_the_server_are_the_agents_doing(url: str) -> None:
    async with connect(url, TOKEN) as toolbox:
        result = await toolbox.call("borrow", {"book": "x" * 5_000_000})
    assert result.is_error
    assert "HTTP 413" in result.text


async def test_a_wrong_token_is_said_at_once(url: str) -> None:
    with pytest.raises(FarmUnreachable, match="refused the token") as caught:
        async with connect(url, "another"):
            pass
    assert caught.value.status == 401
    assert "another" not in str(caught.value)


async def test_a_token_with_a_line_break_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(FarmUnreachable, match="line break") as caught:
        async with connect(url, "secret\n"):
            pass
    assert "secret" not in str(caught.value)


async def test_a_closed_instance_is_named_and_the_caller_goes_on(url: str, farm: Farm) -> None:
    async with connect(url, TOKEN) as toolbox:
        farm.closed = True
        with pytest.raises(FarmUnreachable, match="it was closed") as caught:
            await toolbox.call("borrow", {"book": "Dune"})
        still_running = True
    assert still_running
    assert caught.value.status == 404


async def test_a_failing_worker_is_not_the_agents_doing(url: str, farm: Farm) -> None:
    async with connect(url, TOKEN) as toolbox:
        farm.broken = True
        with pytest.raises(FarmUnreachable, match="it said: worker is shutting down") as caught:
            await toolbox.call("borrow", {"book": "Dune"})
    assert caught.value.status == 503


async def test_a_farm_that_is_not_there_is_unreachable_and_no_group_of_exceptions(url: str) -> None:
    gone = url.replace("127.0.0.1", "127.0.0.2")
    with pytest.raises(FarmUnreachable, match="is the farm up"):
        async with connect(gone, TOKEN):
            pass


async def test_a_farm_that_dies_between_two_calls_leaves_the_caller_standing(farm: Farm) -> None:
    serving_farm = farm.serve()
    url = await serving_farm.__aenter__()
    async with connect(url, TOKEN) as toolbox:
        await serving_farm.__aexit__(None, None, None)
        with pytest.raises(FarmUnreachable, match="cannot reach"):
            await toolbox.call("borrow", {"book": "Dune"})


async def test_an_answer_that_breaks_off_is_trouble_on_the_way() -> None:
    async def breaks_off(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(b"content-type", b"application/json"), (b"content-length", b"100")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b'{"jsonrpc":'})

    async with serving(breaks_off) as url:
        with pytest.raises(FarmUnreachable, match="cannot reach"):
            async with connect(url, TOKEN):
                pass


async def test_answers_may_come_as_event_streams() -> None:
    async with Farm(streams=True).serve() as url, connect(url, TOKEN) as toolbox:
        assert (await toolbox.call("borrow", {"book": "Dune"})).text == "loan_1: Dune"


async def test_something_else_behind_the_url_is_not_mcp() -> None:
    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": b"<html>"})

    async with serving(page) as url:
        with pytest.raises(FarmUnreachable, match="text/html"):
            async with connect(url, TOKEN, patience=1):
                pass


@pytest.mark.parametrize(
    "said",
    ["[]", "{}", '{"jsonrpc": "2.0", "id": 77, "result": {}}', '{"jsonrpc": "2.0", "id": 1, "result": 5}', "{", '"x"'],
)
async def test_json_that_answers_another_question_or_none_is_not_mcp(said: str) -> None:
    async def other(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = [(b"content-type", b"application/json")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": said.encode()})

    async with serving(other) as url:
        with pytest.raises(FarmUnreachable, match=r"(not|speak) MCP"):
            async with connect(url, TOKEN, patience=1):
                pass


async def test_a_tool_that_never_answers_is_given_up(url: str) -> None:
    async with connect(url, TOKEN, patience=0.05) as toolbox:
        with pytest.raises(FarmUnreachable, match="overloaded or hangs"):
            await toolbox.call("ponder", {"matter": "life"})


async def test_a_call_can_be_cancelled_and_the_connection_lives_on(url: str) -> None:
    async with connect(url, TOKEN) as toolbox:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.03):
                await toolbox.call("ponder", {"matter": "life"})
        assert not (await toolbox.call("borrow", {"book": "Dune"})).is_error


async def test_an_answer_that_comes_while_the_caller_leaves_breaks_nothing(url: str, farm: Farm) -> None:
    async with connect(url, TOKEN) as toolbox:
        call = asyncio.create_task(toolbox.call("ponder", {"matter": "life"}))
        await farm.pondering.wait()
        farm.pondered.set()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert farm.calls == [("ponder", {"matter": "life"})]


async def test_one_http_client_serves_many_connections_and_stays_open(url: str, farm: Farm) -> None:
    async with shared_http() as http:
        async with connect(url, TOKEN, http_client=http) as one, connect(url, TOKEN, http_client=http) as two:
            assert not (await one.call("borrow", {"book": "Dune"})).is_error
            assert not (await two.call("borrow", {"book": "Emma"})).is_error
        with pytest.raises(FarmUnreachable, match="refused the token"):
            async with connect(url, "another", http_client=http):
                pass
        assert not http.is_closed
        assert "Authorization" not in http.headers
    assert len(farm.calls) == 2


async def test_an_error_of_the_caller_comes_out_as_it_is(url: str) -> None:
    with pytest.raises(KeyError, match="mine"):
        async with connect(url, TOKEN):
            raise KeyError("mine")


async def test_an_http_client_closed_too_early_is_no_group_of_exceptions(url: str) -> None:
    async def close_and_call() -> None:
        async with shared_http() as http, connect(url, TOKEN, http_client=http) as toolbox:
            await http.aclose()
            await toolbox.call("borrow", {"book": "Dune"})

    with pytest.raises(FarmUnreachable, match="closed"):
        await close_and_call()
