"""A process that lets a model play an instance: `python -m registry.web.pages.model_process`, with its order on stdin.

It is a stranger to the farm: it holds the instance's URL and token, and the model's endpoint. It prints a line of JSON
for each thing that the model says. Ending the process ends the play, so that a person can take over.
"""

import asyncio
import json
import sys

from agent_client.errors import AgentError, EndpointError, FarmUnreachable
from agent_client.events import Event, ModelReply, UserReply
from agent_client.models.chat_model import ChatModel
from agent_client.models.endpoint import Retries
from agent_client.models.simulated_person import SimulatedPerson
from agent_client.play import Limits, play
from agent_client.toolbox import connect
from registry.web.pages.model_plays import ModelOrder
from servers.limits.parent_death import die_with_parent

LONGEST_SAID = 4000
ENDS = {
    "finished": "It ended without an answer.",
    "turn_limit": "It used all of its turns without an answer.",
    "token_limit": "It used all of its tokens without an answer.",
    "time_limit": "Its time was over before it had an answer.",
}
"""What is said of a play without an answer, if nothing else explains it."""


async def _played(order: ModelOrder) -> None:
    retries = Retries(attempts=3)
    async with (
        ChatModel(order.base_url, order.model, api_key=order.api_key, retries=retries) as model,
        connect(order.url, order.token) as toolbox,
    ):
        person = None if order.persona is None else SimulatedPerson(model, persona=order.persona, task=order.task)
        trace = await play(model, toolbox, order.task, limits=Limits(turns=order.turns), person=person, on_event=_show)
        if trace.end == "finished" and trace.answer.strip():
            _say("ended", trace.answer)
        else:
            _say("broke", trace.error or ENDS.get(trace.end, trace.end))


def _show(event: Event) -> None:
    match event:
        case ModelReply(turn=turn) if turn.text.strip():
            _say("says", turn.text)
        case UserReply(text=text):
            _say("user", text)
        case _:
            pass


def _say(kind: str, text: str) -> None:
    told = {"kind": kind, "text": text[:LONGEST_SAID]}
    sys.stdout.write(json.dumps(told) + "\n")
    sys.stdout.flush()


def main() -> None:
    """Play, and say at the end how it ended."""
    order = ModelOrder.model_validate_json(sys.stdin.buffer.read())
    die_with_parent(order.parent)
    try:
        asyncio.run(_played(order))
    except (AgentError, EndpointError, FarmUnreachable) as error:
        _say("broke", str(error))


if __name__ == "__main__":
    main()
