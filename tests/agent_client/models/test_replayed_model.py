"""A recording is repeated word for word."""

from agent_client.model import CallReply
from agent_client.models.replayed_model import ReplayedModel
from agent_client.trace import ToolCall, ToolResult


async def test_what_looks_like_a_reference_is_a_text_in_a_recording() -> None:
    call = ToolCall(id="c1", tool="note", arguments={"text": "write ${1.id} there"})
    model = ReplayedModel([call], "It says ${1.id}.")
    first = await model.reply([], [])
    assert first.calls == (call,)
    then = await model.reply([CallReply(call=call, result=ToolResult(text="{}"))], [])
    assert (then.text, then.final) == ("It says ${1.id}.", True)
