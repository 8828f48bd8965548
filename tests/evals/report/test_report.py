"""A report counts everything, says what is missing, and shows each rollout with what it changed."""

import base64
import io
import json
import re
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from agent_client.errors import EndpointError
from agent_client.model import Message, Model, Reply
from agent_client.trace import ToolCall, ToolSpec
from evals.report.comparison import compared
from evals.report.page import in_script, page
from evals.report.replay_data import as_json, packed
from evals.report.report import read_report
from evals.report.rollout_view import rollout_named, show_rollout
from evals.runs.folder import ROLLOUTS, RunFolder
from tests.evals.example_report import EXAMPLE, example_report
from tests.evals.suite_runs import evaluated, shop, suite
from tests.processes import farm

RIGHT = ToolCall(id="a", tool="price", arguments={"id": "t2", "cents": 250})
WRONG = ToolCall(id="b", tool="price", arguments={"id": "t3", "cents": 1})
MISTAKEN = ToolCall(id="c", tool="price", arguments={"id": "t9", "cents": 1})


class Each:
    """A model that does something else in each rollout: a list of calls, and then an answer."""

    name = "each"

    def __init__(self, calls: Sequence[ToolCall] | None) -> None:
        self.calls = calls

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        done = any(isinstance(message, Reply) for message in messages)
        if self.calls is None:
            raise EndpointError("the endpoint is <b>down</b>")
        return Reply(text="Done.") if done or not self.calls else Reply(text="So:", calls=tuple(self.calls))


def in_turn(*calls: Sequence[ToolCall] | None) -> Callable[[], Model]:
    models = iter([Each(one) for one in calls])
    return lambda: next(models)


async def played(folder: Path, *calls: Sequence[ToolCall] | None, **changes: Any) -> RunFolder:
    """A run of the scenario `easy` whose rollouts do something each."""
    run = {"attempts": len(calls), "concurrency": 1, "retries": 0}
    told = suite(agent={"kind": "idle"}, scenarios={"ids": ["easy"]}, run=run, **changes)
    async with shop(folder / "shelf") as client:
        await evaluated(client, folder / "run", told, model=in_turn(*calls))
    return RunFolder(folder / "run")


async def test_nothing_is_dropped_and_what_broke_stands_apart(tmp_path: Path) -> None:
    told = read_report(await played(tmp_path, [RIGHT], [], [WRONG], [RIGHT], None, [MISTAKEN]))
    assert (told.all.rollouts, told.all.judged, told.all.scenarios, told.missing) == (6, 5, 1, 0)
    assert told.all.success is not None
    assert told.all.success.value == 2 / 5
    assert told.bounds == (2 / 6, 3 / 6)
    assert told.outcomes == {"scored": 5, "timeout": 0, "agent_error": 0, "infra_error": 1}
    assert told.broken == [("the endpoint is <b>down</b>", 1)]
    assert dict(told.causes) == {
        "called no tool": ["shop/easy#1"],
        "did something else": ["shop/easy#2"],
        "changed nothing": ["shop/easy#5"],
    }
    assert [(one.checkpoint, one.failed, one.judged) for one in told.checkpoints] == [("priced", 3, 5)]
    assert [(one.tool, one.calls, one.errors) for one in told.tools] == [("price", 4, 1)]
    assert [(one.k, one.any_of.value, one.all_of.value) for one in told.passing[:2]] == [
        (1, pytest.approx(0.4), pytest.approx(0.4)),
        (2, pytest.approx(0.7), pytest.approx(0.1)),
    ]
    assert [group.name for group in told.groups["difficulty"]] == ["easy"]
    assert [group.name for group in told.groups["reference calls"]] == ["0 to 2"]


async def test_a_run_cut_short_says_what_is_missing(tmp_path: Path) -> None:
    run = await played(tmp_path, [RIGHT], [], [WRONG])
    file = run.path / "rollouts.jsonl"
    file.write_bytes(file.read_bytes()[:-10])
    told = read_report(run)
    assert (told.all.rollouts, told.missing) == (2, 1)
    assert told.torn > 0
    done = await farm("report", run.path, home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "1 rollout of the suite is not played yet" in done.out
    assert "the last line was cut short" in done.out


async def test_two_runs_are_paired_by_scenario(tmp_path: Path) -> None:
    told = suite(run={"attempts": 2, "concurrency": 2})
    async with shop(tmp_path / "shelf") as client:
        await evaluated(client, tmp_path / "gold", told)
        await evaluated(client, tmp_path / "idle", suite(agent={"kind": "idle"}))
    beside = compared(read_report(RunFolder(tmp_path / "idle")), read_report(RunFolder(tmp_path / "gold")))
    assert [(one.scenario, one.success, one.reward) for one in beside.scenarios] == [
        ("shop/easy", (0.0, 1.0), (0.0, 1.0)),
        ("shop/half", (0.0, 0.0), (0.0, 0.5)),
    ]
    assert beside.success is not None
    assert beside.success.difference.value == 0.5
    done = await farm("report", "idle", "gold", home=tmp_path)
    assert "gold against idle: 2 scenarios in both" in done.out
    assert "+50.0 points" in done.out


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def unpacked_text(text: str) -> str:
    return zlib.decompress(base64.b64decode(text)).decode()


def unpacked(text: str) -> dict[str, Any]:
    return json.loads(unpacked_text(text))


ENDINGS = ["</script>", "<!--", "{{data}}", "{{script}}", "\u2028\u2029", "\ud800", "]]>", "\x00"]


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(st.characters()) | st.sampled_from(ENDINGS),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


@given(JSON_VALUES)
def test_any_value_is_data_that_a_page_can_hold_and_a_browser_can_read(value: Any) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    held = in_script(value)
    assert "<" not in held
    held.encode()
    assert json.loads(held, parse_constant=refuse) == json.loads(as_json(value))
    assert unpacked_text(packed(value)) == as_json(value)


async def test_the_page_stands_alone_and_holds_every_rollout(tmp_path: Path) -> None:
    name = "</script><b>suite</b> {{data}} {{script}} {{title}} &amp; \u202e"
    told = read_report(await played(tmp_path, [RIGHT, WRONG], None, name=name))
    text = page([told], [])
    assert "</script><b>" not in text
    assert not re.search(r'(?:src|href)="?http|@import|url\(', text)
    [run] = data_of(text)["runs"]
    assert run["name"] == name
    [call, other] = unpacked(run["opened"]["shop/easy#0"])["turns"][0]["calls"]
    assert {"cents": 250} in [change["after"] for change in call["changes"]]
    assert (other["arguments"], other["error"]) == ({"id": "t3", "cents": 1}, False)
    subject = unpacked(run["subjects"]["shop/easy"])
    assert subject["reference"]["turns"][0]["calls"][0]["changes"] == call["changes"]
    assert unpacked(run["opened"]["shop/easy#1"])["error"] == "the endpoint is <b>down</b>"


async def test_a_page_holds_only_so_many_and_failures_come_first(tmp_path: Path) -> None:
    told = read_report(await played(tmp_path, [RIGHT], [RIGHT], []))
    [run] = data_of(page([told], [], most_openable=1))["runs"]
    assert list(run["opened"]) == ["shop/easy#2"]
    assert len(run["rollouts"]) == 3


async def test_farm_report_and_show_tell_a_person_what_happened(tmp_path: Path) -> None:
    run = await played(tmp_path, [RIGHT, MISTAKEN], [])
    done = await farm("report", run.path, "--html", "page.html", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "50.0" in done.out
    assert (tmp_path / "page.html").stat().st_size > 10_000
    told = await farm("report", run.path, run.path, "--json", home=tmp_path)
    data = json.loads(told.out)
    assert [one["all"]["success"][0] for one in data["runs"]] == [0.5, 0.5]
    assert [one["other"] for one in data["comparisons"]] == [str(run.path)]
    listed = await farm("show", run.path, "--failed", home=tmp_path)
    assert "shop/easy#1" in listed.out
    assert "shop/easy#0" not in listed.out
    data = json.loads((await farm("show", run.path, "--failed", "--json", home=tmp_path)).out)
    assert [(one["key"], one["success"], "offset" in one) for one in data] == [("shop/easy#1", False, False)]
    one = json.loads((await farm("show", run.path, "shop/easy#0", "--json", home=tmp_path)).out)
    assert one == json.loads((run.path / ROLLOUTS).read_text().splitlines()[0])
    shown = await farm("show", run.path, "shop/easy#0", home=tmp_path)
    for piece in (
        "Please let the bell cost 2.50.",
        "price(id=",
        "~ things t2:",
        "cents 200 → 250",
        "there is no thing",
    ):
        assert piece in shown.out
    assert "the reference solution" in shown.out
    assert max(map(len, shown.out.splitlines())) <= 200  # the COLUMNS of every command here
    assert "Does the bell cost 2.50?" in shown.out


async def test_a_call_that_could_not_be_read_is_shown_as_such(tmp_path: Path) -> None:
    run = await played(tmp_path, [ToolCall.read("d", "price", "{bad")])
    screen = Console(file=io.StringIO(), width=240, color_system=None)
    show_rollout(screen, run, rollout_named(run, "shop/easy#0"))
    assert isinstance(screen.file, io.StringIO)
    assert (
        "→ price could not be read: key must be a string at line 1 column 2; they were: {bad " in screen.file.getvalue()
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("report", "nowhere"), "nowhere: not a run: it has no run.json"),
        (("show", "run", "shop/easy#9"), "has no rollout 'shop/easy#9'; `farm show run` lists them"),
        (("report", "run", "--html", "nowhere/page.html"), "--html nowhere/page.html: cannot be written"),
    ],
)
async def test_a_user_s_mistake_is_one_line(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    await played(tmp_path, [])
    done = await farm(*arguments, home=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert said in done.err


def test_the_example_of_the_documentation_has_today_s_look() -> None:
    """What was measured stands in it, so that `python -m tests.evals.example_report` draws it anew."""
    assert EXAMPLE.read_text(encoding="utf-8") == example_report()
