"""Conversations: the user speaks first, reveals piece by piece, and ends them; its trouble is never the agent's."""

import asyncio
from collections.abc import Sequence

import pytest

from agent_client.errors import ConversationTooLong, EndpointError
from agent_client.model import EPISODE_CLOCK, Instructions, Message, Model, Reply, User
from agent_client.models.simulated_person import GREETING, STOP, SimulatedPerson
from agent_client.person import Exchange, Person, ScriptedPerson, UserMessage
from agent_client.play import Limits, play
from agent_client.toolbox import connect
from agent_client.trace import ToolCall, ToolSpec, Trace
from tests.doubles import RULES, TOKEN


class Lines:
    """A model that says prepared things, and keeps what it was shown."""

    name = "lines"

    def __init__(self, *replies: Reply | Exception) -> None:
        self.shown: list[tuple[Message, ...]] = []
        self._replies = list(replies)

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        self.shown.append(tuple(messages))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def says(text: str) -> Reply:
    return Reply(text=text, tokens_in=3, tokens_out=2)


async def talk(url: str, model: Model, person: Person, **limits: int) -> Trace:
    async with connect(url, TOKEN) as toolbox:
        return await play(model, toolbox, "The hidden task.", limits=Limits(**limits), person=person)


BORROW = Reply(calls=(ToolCall(id="a", tool="borrow", arguments={"book": "Dune"}),))


async def test_a_conversation_goes_on_until_the_user_ends_it(url: str) -> None:
    model = Lines(says("Which book?"), BORROW, says("It is yours."))
    trace = await talk(url, model, ScriptedPerson(["I want a book.", "Dune."]))
    assert (trace.end, trace.task, trace.user) == ("finished", "I want a book.", "scripted user")
    assert [turn.user for turn in trace.turns] == ["Dune.", "", ""]
    assert trace.answer == "Which book?\n\nIt is yours."
    assert model.shown[0] == (Instructions(RULES), User("I want a book."))
    assert model.shown[1][-1] == User("Dune.")
    assert "hidden" not in str(model.shown)
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


async def test_a_user_who_never_ends_is_held_by_the_limit_of_turns(url: str) -> None:
    trace = await talk(url, Lines(*[says("Yes?")] * 3), ScriptedPerson(["More!"] * 10), turns=3)
    assert (trace.end, len(trace.turns), trace.answer) == ("turn_limit", 3, "")


async def test_an_agent_that_says_nothing_is_reminded_without_the_user(url: str) -> None:
    trace = await talk(url, Lines(Reply(), says("Here you are.")), ScriptedPerson(["I want a book."]))
    assert (trace.end, trace.answer) == ("finished", "Here you are.")


async def test_a_simulated_user_sees_persona_and_task_and_what_was_said_to_it_only() -> None:
    model = Lines(says("I want a book."), says("Dune, please."), says(f"{STOP}\n"))
    person = SimulatedPerson(model, persona="Ada, in a hurry.", task="Borrow Dune.")
    first = await person.says("", ())
    second = await person.says(first.text, [Exchange("Which?")])
    last = await person.says(first.text, [Exchange("Which?", second.text), Exchange("Done.")])
    assert [(one.text, one.over, one.tokens) for one in (first, second, last)] == [
        ("I want a book.", False, 5),
        ("Dune, please.", False, 5),
        ("", True, 5),
    ]
    rules, *rest = model.shown[-1]
    assert isinstance(rules, Instructions)
    assert "Ada, in a hurry." in rules.text
    assert "Borrow Dune." in rules.text
    assert rest == [
        User(GREETING),
        Reply(text="I want a book."),
        User("Which?"),
        Reply(text="Dune, please."),
        User("Done."),
    ]


@pytest.mark.parametrize("text", [f"What does {STOP} mean?", f"{STOP}\nbut wait", "Thank you."])
async def test_the_signal_counts_as_the_last_line_only(text: str) -> None:
    person = SimulatedPerson(Lines(says(text)), persona="Ada.", task="Borrow Dune.")
    assert not (await person.says("I want a book.", [Exchange("Done.")])).over


async def test_last_words_with_the_signal_end_it() -> None:
    person = SimulatedPerson(Lines(says(f"Thank you!\n{STOP}")), persona="Ada.", task="Borrow Dune.")
    assert (await person.says("I want a book.", [Exchange("Done.")])).over


@pytest.mark.parametrize(
    "replies",
    [
        [Reply(), Reply()],
        [says(STOP), says(STOP)],  # before it has begun
        [ConversationTooLong("too long")],
        [EndpointError("down")],
    ],
)
async def test_a_user_who_cannot_go_on_is_not_the_agent_s_doing(url: str, replies: list[Reply | Exception]) -> None:
    trace = await talk(url, Lines(), SimulatedPerson(Lines(*replies), persona="Ada.", task="Borrow Dune."))
    assert (trace.end, trace.turns) == ("infra_error", ())


class Stuck:
    """A model that begins, and then never answers: its time is over while it is asked."""

    name = "stuck"

    def __init__(self, *replies: Reply) -> None:
        self._replies = list(replies)

    async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
        if not self._replies:
            clock = EPISODE_CLOCK.get()
            assert clock is not None
            clock.reschedule(asyncio.get_running_loop().time())
            await asyncio.Event().wait()
        return self._replies.pop(0)


async def test_a_user_that_hangs_later_is_not_the_agent_s_doing_either(url: str) -> None:
    user = SimulatedPerson(Stuck(says("I want a book.")), persona="Ada.", task="Borrow Dune.")
    trace = await talk(url, Lines(says("Which book?")), user, seconds=600)
    assert (trace.end, len(trace.turns)) == ("infra_error", 1)
    assert "the simulated user (stuck) took 600 s, and the last one is not there" in trace.error


async def test_an_agent_that_hangs_in_a_conversation_ends_with_the_time(url: str) -> None:
    trace = await talk(url, Stuck(says("Which book?")), ScriptedPerson(["A book.", "Dune."]), seconds=600)
    assert (trace.end, trace.turns[0].user) == ("time_limit", "Dune.")


async def test_the_agent_s_clock_stands_still_while_the_user_is_asked(url: str) -> None:
    ends: list[float | None] = []

    class Watched(Lines):
        async def reply(self, messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Reply:
            self.clock = EPISODE_CLOCK.get()
            assert self.clock is not None
            ends.append(self.clock.when())
            return await super().reply(messages, tools)

    class Asked(ScriptedPerson):
        async def says(self, opening: str, told: Sequence[Exchange]) -> UserMessage:
            if told:
                assert model.clock is not None
                ends.append(model.clock.when())
            return await super().says(opening, told)

    model = Watched(says("Which book?"), says("It is yours."))
    await talk(url, model, Asked(["I want a book.", "Dune."]), seconds=600)
    first, while_asked, second, at_the_end = ends
    assert (while_asked, at_the_end) == (None, None)
    assert first is not None
    assert second is not None
    assert second > first


async def test_the_answer_lines_of_a_conversation_are_one_line_at_its_end(url: str) -> None:
    model = Lines(
        says("It costs more.\n**Answer:** 240 euros"), says("Room 304.\nAnswer: 240 euros; 304"), says("Bye.")
    )
    trace = await talk(url, model, ScriptedPerson(["What does it cost?", "And the room?", "Thanks."]))
    assert trace.answer == "It costs more.\n\nRoom 304.\n\nBye.\n\nAnswer: 240 euros; 304"
