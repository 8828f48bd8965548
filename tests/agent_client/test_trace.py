"""A trace is stored and read back unchanged."""

import pytest
from pydantic import ValidationError

from agent_client.trace import ToolCall, ToolResult, ToolSpec, Trace, Turn

TRACE = Trace(
    task="Renew „Dune“ for 中村 😀\n",
    instructions="Rules.",
    model="stub-1",
    tools=(ToolSpec(name="renew", description="Renew.", arguments={"type": "object", "properties": {}}),),
    turns=(
        Turn(
            text="I look.",
            thinking="Hm.",
            calls=(
                ToolCall(id="a", tool="find", arguments={"f": 1.0, "i": 2**70, "n": None, "l": [True, {"x": -0.5}]}),
                ToolCall.read("b", "renew", "{oops"),
            ),
            results=(ToolResult(text="one", structured={"rows": [1, 2.5]}), ToolResult(text="no", is_error=True)),
            tokens_in=10,
            tokens_out=5,
            seconds=0.1 + 0.2,
        ),
        Turn(user="Go on."),
        Turn(text="Done.", tokens_in=20, tokens_out=1, seconds=1.0),
    ),
    answer="Done.",
    end="finished",
)


def test_a_trace_comes_back_from_json_unchanged() -> None:
    text = TRACE.model_dump_json()
    assert Trace.model_validate_json(text) == TRACE
    assert Trace.model_validate_json(text).model_dump_json() == text


@pytest.mark.parametrize("written", ['{"x": "\ud800"}', {"x": "\ud800"}, {"x": float("nan")}, [1], 7])
def test_no_arguments_that_a_model_can_write_spoil_a_trace(written: object) -> None:
    call = ToolCall.read("a", "renew", written)
    assert call.malformed
    assert call.arguments == {}
    assert ToolCall.model_validate_json(call.model_dump_json()) == call


def test_a_trace_counts_calls_tokens_and_seconds() -> None:
    assert (TRACE.calls, TRACE.tokens) == (2, 36)
    assert TRACE.seconds == pytest.approx(1.3)


def test_a_trace_with_unknown_keys_is_refused() -> None:
    with pytest.raises(ValidationError, match="reward"):
        Trace.model_validate({**TRACE.model_dump(), "reward": 1})


def test_a_trace_does_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        TRACE.answer = "Other."  # pyright: ignore[reportAttributeAccessIssue]
