"""The log of a farm: JSON lines that follow a call from door to guest, and keep what is secret to themselves."""

import ast
import asyncio
import json
import logging
import os
import signal
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

from agent_client.toolbox import connect
from bench.load import call_request
from registry.client import FarmClient
from registry.farm import private
from registry.messages import Lease
from servers.bundle_library import Library
from servers.messages import Launch
from servers.telemetry.logs import OF_EVERY_LINE, JsonLineHandler, as_line, to_stderr
from servers.telemetry.opentelemetry import Spans
from servers.worker.worker import Worker
from tests.frail import write_frail
from tests.processes import Done, farm_up

ROOT = Path(__file__).parent.parent
ARGUMENT = "a-word-that-stays-inside"
ANSWER = "the last words of the agent"
PARTS_OF_EVERY_EVENT = ["at", "level", "process", "source", "event"]


async def called(lease: Lease, *calls: tuple[str, dict[str, Any]]) -> None:
    """Make calls as an agent."""
    assert lease.mcp_url is not None
    assert lease.token is not None
    async with connect(lease.mcp_url, lease.token) as toolbox:
        for tool, arguments in calls:
            await toolbox.call(tool, arguments)


def names_of_fields(source: str) -> set[str]:
    """The literal names in what is given as `extra`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        for option in node.keywords if isinstance(node, ast.Call) else ():
            if option.arg == "extra" and isinstance(option.value, ast.Dict):
                found |= {
                    key.value
                    for key in option.value.keys
                    if isinstance(key, ast.Constant) and isinstance(key.value, str)
                }
    return found


def test_no_event_has_a_field_that_every_line_has() -> None:
    assert names_of_fields("log.info('x', extra={'at': 1, 'b': 2})") == {"at", "b"}
    used: set[str] = set()
    for folder in ("servers", "registry", "evals", "synth", "rl_training", "agent_client"):
        for path in (ROOT / folder).rglob("*.py"):
            used |= names_of_fields(path.read_text(encoding="utf-8"))
    assert "instance" in used
    assert used.isdisjoint(OF_EVERY_LINE)


def test_a_field_never_takes_the_place_of_what_every_line_has() -> None:
    record = logging.makeLogRecord({"name": "a.library", "msg": "said", "at": "elsewhere", "event": "other", "mine": 1})
    line = json.loads(as_line(record, "farm"))
    assert line["at"].startswith("20")
    assert (line["event"], line["at_"], line["event_"], line["mine"]) == ("said", "elsewhere", "other", 1)


def of_the_farm(done: Done) -> list[dict[str, Any]]:
    """What a farm logged, without what the machine's load brings about."""
    return [one for one in done.events if not one["event"].startswith("event loop ")]


async def make_sure_where_instances_are(url: str, workers: int) -> None:
    """The farm's own port answers agents in JSON-RPC. With workers of their own ports, it says so."""
    async with httpx.AsyncClient() as http:
        answer = await http.post(f"{url}/i/0123456789abcdef/mcp", json={})
    error = answer.json()["error"]
    assert (answer.status_code, error["data"]) == (404, {"kind": "not_found"})
    assert ("use the mcp_url of the lease" in error["message"]) == (workers > 1)


@pytest.mark.parametrize(("count", "level"), [(1, "debug"), (2, "info")])
async def test_what_happens_is_told_and_what_is_secret_is_not(tmp_path: Path, count: int, level: str) -> None:
    await write_frail(tmp_path / "shelf" / "frail")
    served = ("--library", tmp_path / "shelf", "--no-gate")
    arguments = ("--port", "0", "--workers", str(count), *served, "--log-level", level)
    async with farm_up(tmp_path / "state", *arguments, home=tmp_path) as up:
        async with FarmClient(up.url, up.token) as client:
            await make_sure_where_instances_are(up.url, count)
            first, second = await client.launch("frail", "dearer", count=2)
            await called(first, ("find", {"text": ARGUMENT}), ("fail", {"word": ARGUMENT}), ("leave", {}))
            kept = [(call.seq, call.outcome) for call in (await client.history(first.instance)).items]
            score = await client.score(first.instance, ANSWER)
            await client.rewind(first.instance, 1)
            await client.reset(first.instance)
            [fork] = await client.fork(second.instance)
            await client.close(second.instance)
            token = up.token
        done = await up.ended_by(signal.SIGTERM)

    events = of_the_farm(done)
    assert all(list(event)[:5] == PARTS_OF_EVERY_EVENT for event in events)
    processes = {"farm"} if count == 1 else {"farm", "worker-1", "worker-2"}
    assert {event["process"] for event in events} == processes

    def told(event: str, **fields: Any) -> list[dict[str, Any]]:
        return [one for one in events if one["event"] == event and fields.items() <= one.items()]

    calls = [(event["call"], event["outcome"]) for event in told("called")]
    every = [(f"{first.instance}/{seq}", outcome) for seq, outcome in kept]
    assert calls == (every if level == "debug" else every[1:])
    [failed] = told("called", outcome="failed")
    assert (failed["level"], failed["tool"], failed["environment"]) == ("warning", "fail", "frail")
    assert "ZeroDivisionError" in failed["detail"]
    [died] = told("called", outcome="died")
    [end] = told("guest ended", guest=died["guest"])
    assert (end["cause"], end["environment"]) == ("exit 3", "frail")
    assert told("guest started", guest=died["guest"])

    launched = told("launched", environment="frail", scenario="dearer")
    assert {one for event in launched for one in event["instances"]} == {first.instance, second.instance}
    assert len(told("reset", instance=first.instance)) == len(told("rewound", to=f"{first.instance}/1")) == 1
    assert told("forked", instance=second.instance, instances=[fork.instance])
    assert len(told("closed")) == len(told("closed", instance=second.instance)) == 1
    assert told("scored", instance=first.instance, outcome="scored", reward=score.reward)
    assert len(told("worker started")) == len(told("worker ended")) == count
    assert len(told("worker process started")) == (0 if count == 1 else count)
    assert {event["level"] for event in events} == {level, "info", "warning"}

    secrets = [token, first.token, second.token, fork.token, ARGUMENT, ANSWER, "Does the bell cost", str(tmp_path)]
    assert [secret for secret in secrets if secret is None or secret in done.err] == []


async def test_what_the_farm_could_not_do_is_an_error_that_names_the_instance(tmp_path: Path, shelf: Path) -> None:
    state = tmp_path / "state"
    async with farm_up(state, "--port", "0", "--library", shelf, "--log-level", "error", home=tmp_path) as up:
        async with FarmClient(up.url, up.token) as client:
            [lease] = await client.launch("shop", "dearer")
            (state / "worker-1" / "instances" / f"{lease.instance}.history").write_bytes(b"not a database" * 100)
            assert (await client.score(lease.instance)).outcome == "infra_error"
        done = await up.ended_by(signal.SIGTERM)
    [event] = of_the_farm(done)
    assert (event["event"], event["level"], event["instance"]) == ("scored", "error", lease.instance)
    assert "is not what was written" in event["error"]
    assert str(tmp_path) not in done.err


def test_events_never_wait_for_their_reader_and_say_how_many_were_left_out() -> None:
    reading, writing = os.pipe()
    lines = JsonLineHandler(process="test", descriptor=writing)
    for number in range(20_000):
        lines.emit(logging.makeLogRecord({"name": "farm", "msg": "event", "levelname": "INFO", "number": number}))
    with os.fdopen(reading, encoding="utf-8") as reader:
        told, left_out = 0, 0
        while told + left_out < 20_000:
            line = json.loads(reader.readline())
            told += line["event"] == "event"
            left_out += line.get("count", 0)
        assert left_out > 5000
        lines.emit(logging.makeLogRecord({"name": "farm", "msg": "last", "levelname": "INFO"}))
        lines.close()
        os.close(writing)
        assert [json.loads(line)["event"] for line in reader] == ["last"]


def test_a_process_ends_although_nobody_reads_its_log() -> None:
    reading, writing = os.pipe()
    lines = JsonLineHandler(process="test", descriptor=writing)
    for _ in range(15_000):
        lines.emit(logging.makeLogRecord({"name": "farm", "msg": "event", "levelname": "INFO"}))
    lines.close()
    os.close(reading)
    lines.close()  # now that nobody ever will read it, its thread ends
    os.close(writing)


class Kept(SpanExporter):
    """Keeps spans."""

    def __init__(self) -> None:
        self.spans: list[ReadableSpan] = []

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.spans += spans
        return SpanExportResult.SUCCESS


@contextmanager
def traced() -> Generator[list[ReadableSpan]]:
    """The spans of what happens inside, there once it is left."""
    kept = Kept()
    spans = Spans("http://nowhere", process="test", exporter=kept)
    log = logging.getLogger("farm")
    before = log.level
    log.addHandler(spans)
    log.setLevel(logging.DEBUG)
    try:
        yield kept.spans
    finally:
        log.setLevel(before)
        log.removeHandler(spans)
        spans.close()


async def test_calls_and_launches_are_spans_and_what_a_tool_took_is_inside(shelf: Path, tmp_path: Path) -> None:
    with traced() as spans:
        async with Worker(Library([shelf]), tmp_path / "state") as worker:
            [ticket] = await worker.launch(Launch(environment="shop"))
            await worker.find(ticket.instance).call("find", {"text": ARGUMENT})
    named = {span.name: span for span in spans}
    assert named.keys() == {"launched", "called", "guest"}
    call, guest = named["called"], named["guest"]
    assert call.attributes is not None
    assert call.attributes["call"] == f"{ticket.instance}/1"
    assert ARGUMENT not in str(call.attributes)
    assert guest.parent == call.context
    assert call.start_time is not None
    assert guest.start_time is not None
    assert call.start_time < guest.start_time
    assert call.end_time == guest.end_time


async def test_a_call_of_a_client_that_is_traced_is_in_its_trace(shelf: Path) -> None:
    trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
    with traced() as spans:
        async with private((shelf,)) as address, FarmClient(address.url, address.token) as client:
            [lease] = await client.launch("shop", "dearer")
            body, headers = call_request({"text": "bell"}, "find", "2026-07-28")
            request = json.loads(body)
            request["params"]["_meta"]["traceparent"] = f"00-{trace}-{parent}-01"
            headers["Authorization"] = f"Bearer {lease.token}"
            async with httpx.AsyncClient() as http:
                answer = await http.post(str(lease.mcp_url), json=request, headers=headers)
            assert "anvil" not in answer.text
            assert "bell" in answer.text
            await client.score(lease.instance)
    assert {"launched", "called", "guest", "scored"} == {span.name for span in spans}
    [call] = [span for span in spans if span.name == "called"]
    assert call.parent is not None
    assert (call.parent.trace_id, call.parent.span_id) == (int(trace, 16), int(parent, 16))


async def test_without_open_telemetry_a_farm_logs_that_there_are_no_spans() -> None:
    source = (
        f"import sys; sys.modules['opentelemetry.sdk.trace'] = None; from {to_stderr.__module__} import to_stderr; "
    )
    source += "to_stderr('info', process='farm', otel='http://127.0.0.1:1')"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", source, stderr=asyncio.subprocess.PIPE)
    _, said = await process.communicate()
    [event] = [json.loads(line) for line in said.splitlines()]
    assert (event["event"], event["level"]) == ("no spans", "warning")
    assert "envfarm[otel]" in event["detail"]
