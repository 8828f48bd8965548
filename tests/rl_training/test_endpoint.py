# pyright: basic, reportMissingImports=false, reportMissingModuleSource=false
"""A checkpoint behind an endpoint on this machine's CPU: what clients of any model ask of it, and one line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from rl_training.cpu.endpoint import CheckpointModel, completion, endpoint_app
from servers.errors import RequestError
from tests.benchmarks.replays import STAND_INS
from tests.benchmarks.test_acebench import import_acebench
from tests.processes import farm
from tests.rl_training.texts import DEARER, TASK

pytestmark = pytest.mark.rl

ASKED: dict[str, Any] = {"model": "tiny", "messages": [{"role": "user", "content": TASK}], "temperature": 0}
SAID = 'Well.<tool_call>\n{"name": "send_parcel", "arguments": {"pieces": 3}}\n</tool_call>'
TOOL = {"type": "function", "function": {"name": "send_parcel", "parameters": {"type": "object", "properties": {}}}}
PLAY = """
import json, os, sys, urllib.request
body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "Hello."}], "max_tokens": 3}).encode()
request = urllib.request.Request(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)
request.add_header("Content-Type", "application/json")
print(json.load(urllib.request.urlopen(request))["usage"]["completion_tokens"] <= 3)
sys.exit(7)
"""


@pytest.fixture(scope="module")
def model(tiny: Path) -> CheckpointModel:
    return CheckpointModel(tiny)


def said_by(model: CheckpointModel, **asked: Any) -> tuple[int, dict[str, Any]]:
    with TestClient(endpoint_app(model, name="tiny")) as client:
        response = client.post("/v1/chat/completions", json={**ASKED, **asked})
    return response.status_code, response.json()


def test_it_completes_and_counts_tokens(model: CheckpointModel) -> None:
    status, told = said_by(model, max_tokens=4, seed=5)
    assert (status, told["model"]) == (200, "tiny")
    assert told["usage"]["completion_tokens"] <= 4
    assert told["usage"]["prompt_tokens"] > 4
    assert told == {**said_by(model, max_tokens=4)[1], "id": told["id"], "created": told["created"]}


def test_a_conversation_with_calls_is_rendered_by_the_models_template(model: CheckpointModel) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "send_parcel", "arguments": '{"pieces": 3}'}}
    told = [*ASKED["messages"], {"role": "assistant", "content": None, "tool_calls": [call]}]
    told.append({"role": "tool", "tool_call_id": "c1", "content": "sent"})
    short, long = (said_by(model, messages=one, tools=[TOOL])[1] for one in (ASKED["messages"], told))
    assert long["usage"]["prompt_tokens"] > short["usage"]["prompt_tokens"]
    assert said_by(model)[1]["usage"]["prompt_tokens"] < short["usage"]["prompt_tokens"]


def test_a_call_in_the_text_is_a_call_and_one_that_cannot_be_read_is_text() -> None:
    def of(text: str, *, cut: bool = False) -> dict[str, Any]:
        return completion("m", text, cut=cut, tokens_in=1, tokens_out=1)["choices"][0]

    choice = of(SAID)
    [call] = choice["message"]["tool_calls"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("tool_calls", "Well.")
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == ("send_parcel", {"pieces": 3})
    broken = SAID.replace("}}", "")
    choice = of(broken)
    assert (choice["finish_reason"], choice["message"]) == ("stop", {"role": "assistant", "content": broken})
    assert of("Well", cut=True)["finish_reason"] == "length"


def test_what_cannot_be_answered_is_refused_in_words(model: CheckpointModel) -> None:
    for asked, why in (
        ({"messages": [{"role": "user", "content": DEARER * 200}]}, "maximum context length is 1024 tokens"),
        ({"messages": []}, "messages: List should have at least 1 item"),
        ({"messages": [{"role": "assistant", "tool_calls": [3]}]}, "chat template does not take these messages"),
        ({"temperature": -1}, "temperature: Input should be greater than"),
        ({"stream": True}, "does not stream"),
    ):
        status, told = said_by(model, **asked)
        assert (status, why in told["error"]["message"]) == (400, True), told


def test_a_folder_without_a_readable_model_is_told(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(RequestError, match="its model cannot be read"):
        CheckpointModel(tmp_path)


async def test_a_command_runs_as_long_as_the_endpoint_and_its_status_is_the_end(tiny: Path, tmp_path: Path) -> None:
    done = await farm("rl", "serve", tiny, "--", sys.executable, "-c", PLAY, home=tmp_path, cold=True)
    assert (done.code, done.out) == (7, "True\n"), done.err
    done = await farm("rl", "serve", tiny, "--", tmp_path / "nothing", home=tmp_path, cold=True)
    assert (done.code, "nothing: cannot be run: No such file" in done.err) == (2, True), done.err


async def test_a_checkpoint_is_evaluated_on_a_benchmark_by_one_line(tiny: Path, tmp_path: Path) -> None:
    await import_acebench(STAND_INS / "acebench", tmp_path / "imported", "en", "multi_step")
    command = (sys.executable, "-m", "farm", "benchmark", "acebench", "--model", "base", "--json")
    where = ("--imported", tmp_path / "imported", "--only", "acebench_en_multi_step", "--out", tmp_path / "run")
    done = await farm("rl", "serve", tiny, "--reply-tokens", "4", "--", *command, *where, home=tmp_path, cold=True)
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert (told["model"], told["parts"][0]["judged"]) == ("base", 2)
