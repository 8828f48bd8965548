"""Training data says what was said, in each trainer's form; what is left out is counted with its reason."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow.parquet
import pytest

from agent_client.trace import End, ToolCall, ToolResult, ToolSpec, Trace, Turn
from evals.export.chat_template import ChatTemplate, lost
from evals.export.formats import FORMS, losses
from evals.export.selection import RolloutSelection, condition
from evals.export.training_example import example, messages
from evals.rollout import Outcome, Rollout
from servers.errors import RequestError
from tests.bundles import write_bundle
from tests.evals.suite_runs import SCENARIOS, evaluated, shop, suite
from tests.processes import farm

QWEN3 = Path(__file__).with_name("qwen3.jinja")
TOOLS = (ToolSpec(name="borrow", description="Borrow.", arguments={"type": "object"}),)
BOTH = (
    ToolCall(id="a", tool="borrow", arguments={"book": "Ä"}),
    ToolCall(id="b", tool="borrow", arguments={"book": "B"}),
)
LENT, REFUSED = ToolResult(text='{"loan": "1"}'), ToolResult(text="no copy", is_error=True)
TURNS = (
    Turn(text="Let me see.", thinking="Two books.", calls=BOTH, results=(LENT, REFUSED)),
    Turn(thinking="Again.", calls=BOTH[1:], results=(REFUSED,)),
    Turn(text="Only one of them."),
)


def run(turns: Sequence[Turn] = TURNS, *, end: End = "finished", **changes: Any) -> Rollout:
    outcome: Outcome = changes.pop("outcome", "scored")
    trace = Trace(
        task="Borrow both.", instructions="Be kind.", model="m", tools=TOOLS, turns=tuple(turns), answer="", end=end
    )
    told: dict[str, Any] = {"reward": 1.0, "success": True, **changes}
    return Rollout(
        environment="shop", scenario=told.pop("scenario", "easy"), seed=0, outcome=outcome, error="", trace=trace,
        score=None, **told,
    )  # fmt: skip


def made(turns: Sequence[Turn] = TURNS, *, with_thinking: bool = True, errors_in_loss: bool = False) -> Any:
    return example("x", "m", run(turns), with_thinking=with_thinking, errors_in_loss=errors_in_loss)


def test_chat_is_the_openai_form_and_says_what_goes_into_the_loss() -> None:
    told = FORMS["chat"](made())
    assert [message["role"] for message in told["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    first = told["messages"][2]
    assert (first["content"], first["reasoning_content"], first["weight"]) == ("Let me see.", "Two books.", 1)
    assert [json.loads(call["function"]["arguments"])["book"] for call in first["tool_calls"]] == ["Ä", "B"]
    assert [message["tool_call_id"] for message in told["messages"] if message["role"] == "tool"] == ["a", "b", "b"]
    assert [message["weight"] for message in told["messages"] if "weight" in message] == [1, 0, 1]
    assert [tool["function"]["name"] for tool in told["tools"]] == ["borrow"]
    assert all(one.get("weight", 1) for one in FORMS["chat"](made(errors_in_loss=True))["messages"])
    assert "reasoning_content" not in json.dumps(FORMS["chat"](made(with_thinking=False)))


def test_llamafactory_takes_turns_and_says_what_it_has_no_place_for() -> None:
    told = FORMS["llamafactory"](made())
    assert [turn["from"] for turn in told["conversations"]] == [
        "human", "function_call", "observation", "function_call", "observation", "gpt",
    ]  # fmt: skip
    asked = told["conversations"][1]["value"]
    assert asked.startswith("<think>\nTwo books.\n</think>\n\n[{")
    assert [call["arguments"]["book"] for call in json.loads(asked.partition("</think>")[2])] == ["Ä", "B"]
    assert told["conversations"][2]["value"] == '{"loan": "1"}\n</tool_response>\n<tool_response>\nno copy'
    assert (told["system"], json.loads(told["tools"])[0]["name"]) == ("Be kind.", "borrow")
    assert losses("llamafactory", made()) == {
        "words beside a call": 1,
        "messages kept out of the loss (they are in it here)": 1,
    }
    assert losses("chat", made()) == {}


def test_sharegpt_has_calls_as_text() -> None:
    told = FORMS["sharegpt"](made())["conversations"]
    assert [turn["from"] for turn in told] == ["system", "human", "gpt", "tool", "gpt", "tool", "gpt"]
    assert told[2]["value"].count("<tool_call>") == 2
    assert told[3]["value"].count("<tool_response>") == 2
    assert [turn["weight"] for turn in told if turn["from"] == "gpt"] == [1, 0, 1]


def test_an_episode_cut_short_ends_with_the_agent() -> None:
    half = Turn(calls=BOTH, results=(LENT,))
    assert [one["role"] for one in made([half]).messages] == ["system", "user", "assistant"]
    assert len(made([half]).messages[-1]["tool_calls"]) == 1
    none = Turn(calls=BOTH)
    assert [one["role"] for one in messages(run([none]).trace or Trace.model_construct(), with_thinking=True,
                                            errors_in_loss=False)] == ["system", "user"]  # fmt: skip


def test_a_template_shows_all_that_was_said() -> None:
    template = ChatTemplate(QWEN3)
    assert lost(template, made()) == {}
    text = template.rendered([dict(one) for one in made().messages], list(made().tools))
    assert text.startswith("<|im_start|>system\nBe kind.\n\n# Tools")
    assert '<tool_call>\n{"name": "borrow", "arguments": {"book": "Ä"}}\n</tool_call>' in text
    assert '<|im_start|>user\n<tool_response>\n{"loan": "1"}\n</tool_response>\n<tool_response>\nno copy' in text


def test_what_a_template_hides_is_counted(tmp_path: Path) -> None:
    asked_again = [TURNS[0], Turn(text="Which?", thinking="Hm.", user="Both."), TURNS[2]]
    assert lost(ChatTemplate(QWEN3), made(asked_again)) == {"thinking": 2}
    forgetful = tmp_path / "forgetful.jinja"
    forgetful.write_text("{% for message in messages %}{{ message.content }}\n{% endfor %}")
    assert lost(ChatTemplate(forgetful), made()) == {"tools": 1, "thinking": 2, "calls": 3, "arguments": 3}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{% for", "not a template"),
        ("{{ raise_exception('no tools here') }}", "no tools here"),
        ("{{ x.y }}", "undefined"),
    ],
)
def test_a_template_that_cannot_be_used_is_said(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "t.jinja"
    file.write_text(text)
    with pytest.raises(RequestError, match=said):
        lost(ChatTemplate(file), made())


def test_what_is_left_out_is_counted_with_its_reason() -> None:
    malformed = Turn(calls=(ToolCall(id="a", tool="borrow", malformed="broken"),), results=(REFUSED,))
    rollouts = [
        run(),
        run(),
        run(success=False, reward=0.5),
        run(outcome="infra_error", reward=None, success=None),
        run([malformed]),
        run([Turn()]),
        run([Turn(text="A")]),
        run([Turn(text="B")]),
        run([Turn(text="C" * 5000)], scenario="other"),
    ]
    selection = RolloutSelection(per_scenario=2, most_characters=4000)
    taken = list(selection.taken((str(number), "m", one) for number, one in enumerate(rollouts)))
    assert [one.name for one in taken] == ["0", "6"]
    assert selection.dropped == {
        "a duplicate of one taken before": 1,
        "not success=true": 1,
        "infra error: nothing is known of the agent": 1,
        "a call whose arguments could not be read": 1,
        "the agent said and did nothing": 1,
        "more than 2 of one scenario": 1,
        "longer than 4,000 characters": 1,
    }
    assert selection.seen == len(taken) + selection.dropped.total()


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("reward>=1", True),
        ("reward<0.5", False),
        ("turns=3", True),
        ("calls > 3", False),
        ("errors<=2", True),
        ("outcome=scored", True),
        ("environment!=shop", False),
        ("success=true", True),
    ],
)
def test_filters_ask_what_they_say(text: str, holds: bool) -> None:
    assert condition(text).holds(run()) is holds


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("reward", "write FIELD OPERATOR VALUE"),
        ("reward>much", "compared with a number"),
        ("colour=red", "no field 'colour'; there are: success, outcome,"),
        ("outcome>scored", "compared with = or !="),
    ],
)
def test_a_filter_that_is_none_is_said(text: str, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        condition(text)


async def test_farm_export_writes_data_and_a_report_of_it(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        await evaluated(client, tmp_path / "run", suite(run={"attempts": 2, "concurrency": 2}))
    done = await farm(
        "export", "sft", "run", "--out", "chat", "--filter", "reward>=0.5", "--template", QWEN3, home=tmp_path
    )
    assert (done.code, done.err) == (0, "")
    lines = [json.loads(line) for line in (tmp_path / "chat" / "train.jsonl").read_text().splitlines()]
    assert [line["messages"][-1]["content"] for line in lines] == ["Done."]
    told = json.loads((tmp_path / "chat" / "report.json").read_text())
    assert (told["examples"], told["rollouts"], told["lost"]) == (1, 4, {})
    assert told["dropped"] == {"a duplicate of one taken before": 3}
    await write_bundle(tmp_path / "library" / "shop", scenarios=SCENARIOS)
    done = await farm("export", "sft", "--reference", "library", "--format", "verl", "--out", "verl", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    table: Any = cast("Any", pyarrow.parquet).read_table(tmp_path / "verl" / "train.parquet")
    [row] = table.to_pylist()
    assert [message["role"] for message in row["messages"]] == ["system", "user", "assistant", "user", "assistant"]
    assert [message["trainable"] for message in row["messages"]] == [False, False, True, False, True]
    assert "<tools>" in row["messages"][0]["content"]
    assert row["messages"][2]["content"].startswith("<tool_call>")


async def test_an_export_that_takes_nothing_says_so(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as client:
        await evaluated(client, tmp_path / "run", suite())
    done = await farm("export", "sft", "run", "--out", "x", "--filter", "reward>1", home=tmp_path)
    assert (done.code, done.err, "Written" in done.out) == (1, "", False)
    assert "Nothing taken of 2 rollouts: there is no example in x. A wider --filter" in done.out


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("--out", "x"), 2, "name a run to export, or --reference LIBRARY"),
        (("nowhere", "--out", "x"), 2, "nowhere: not a run"),
        (("--reference", "empty", "--out", "x"), 2, "no scenario of 0 passes"),
    ],
)
async def test_a_user_s_mistake_is_one_line(tmp_path: Path, arguments: tuple[str, ...], code: int, said: str) -> None:
    (tmp_path / "empty").mkdir()
    done = await farm("export", "sft", *arguments, home=tmp_path)
    assert (done.code, done.err.count("\n")) == (code, 1)
    assert said in done.err
