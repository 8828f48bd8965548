"""One episode: a model works on a task through a toolbox and leaves a trace.

No mistake of the model and no broken endpoint or farm raises: the trace says how the episode ended.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import NamedTuple

from agent_client.errors import AgentError, ConversationTooLong, EndpointDown, EndpointError, FarmUnreachable
from agent_client.events import (
    CallAnswered,
    EpisodeEnd,
    EpisodeStart,
    Event,
    ModelReply,
    UserReply,
)
from agent_client.model import (
    EPISODE_CLOCK,
    CallReply,
    Instructions,
    Message,
    Model,
    Reply,
    User,
)
from agent_client.person import Exchange, Person, UserMessage
from agent_client.rules import OWN, Rules
from agent_client.toolbox import Toolbox, refusal
from agent_client.trace import (
    End,
    Limits,
    ToolCall,
    ToolResult,
    Trace,
    Turn,
    tokens_of,
)

SILENT = "the model said nothing and called no tool, even after a reminder"
NOT_MADE = "A call of this reply could not be read, so none of its calls was made."
_ANSWER_LINE = re.compile(r"(?:^|\n)[ *_]*answer[ *_]*:[ *_]*", re.IGNORECASE)
_SEPARATOR = re.compile(r"[;\n]")
REMINDER = "You said nothing and called no tool. Go on with the task, or give your final answer."


class EpisodeEnding(NamedTuple):
    """How an episode ended. `text` is the answer of a finished one, otherwise the error."""

    end: End
    text: str


async def play(
    model: Model,
    toolbox: Toolbox,
    task: str,
    *,
    limits: Limits,
    person: Person | None = None,
    rules: Rules = OWN,
    begun: Sequence[Turn] = (),
    on_event: Callable[[Event], None] | None = None,
) -> Trace:
    """Let a model work on a task until it answers or a limit is reached.

    With a `person` it is a conversation: the person speaks first, and the model never sees `task`. What the model says
    goes to the person, who ends the conversation. The person's time is not the model's: the clock stands still, and the
    messages of an episode may take as many seconds again. Calls of one turn are made one after another, so a run can be
    repeated to the byte. `rules` are those of a benchmark.

    With `begun`, the episode goes on after these turns, on a fork of the instance that they were played on. `task` is
    then the user's first message, also in a conversation. The limit of turns counts them.
    """
    episode = _Episode(model, toolbox, task, limits, person, rules, on_event or _ignore)
    episode.go_on_after(task, begun)
    return await episode.run()


def _parted(text: str) -> tuple[str, str]:
    """The words of a message above its answer line, and the values in that line."""
    found = _ANSWER_LINE.search(text)
    return (text[: found.start()].rstrip(), text[found.end() :].strip(" *")) if found else (text, "")


class _Episode:
    def __init__(
        self,
        model: Model,
        toolbox: Toolbox,
        task: str,
        limits: Limits,
        person: Person | None,
        rules: Rules,
        tell: Callable[[Event], None],
    ) -> None:
        self._model = model
        self._toolbox = toolbox
        self._task = task if person is None else ""
        self._limits = limits
        self._person = person
        self._rules = rules
        self._tell = tell
        self._turns: list[Turn] = []
        self._user_tokens = 0
        self._users_time = limits.seconds

    def go_on_after(self, opening: str, turns: Sequence[Turn]) -> None:
        """Take turns over that were played before. Without any, nothing changes."""
        if turns:
            self._task, self._turns = opening, list(turns)

    async def run(self) -> Trace:
        ending = await self._bounded()
        finished = ending.end == "finished"
        trace = Trace(
            task=self._task,
            instructions=self._toolbox.instructions,
            model=self._model.name,
            tools=self._toolbox.tools,
            turns=tuple(self._turns),
            answer=ending.text if finished else "",
            end=ending.end,
            error="" if finished else ending.text,
            user="" if self._person is None else self._person.name,
            user_tokens=self._user_tokens,
        )
        self._tell(EpisodeEnd(trace))
        return trace

    async def _bounded(self) -> EpisodeEnding:
        clock = asyncio.timeout(self._limits.seconds)
        before = EPISODE_CLOCK.set(clock)
        try:
            async with clock:
                return await self._until_end()
        except TimeoutError:
            if not clock.expired():
                raise
            return EpisodeEnding("time_limit", f"not finished after {self._limits.seconds:g} s")
        except ConversationTooLong as error:
            return EpisodeEnding("token_limit", str(error))
        except AgentError as error:
            return EpisodeEnding("agent_error", str(error))
        except (EndpointError, FarmUnreachable) as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise asyncio.CancelledError from error  # somebody wants us to stop, trouble or not
            return EpisodeEnding("infra_error", str(error))
        finally:
            EPISODE_CLOCK.reset(before)

    async def _until_end(self) -> EpisodeEnding:
        if self._person is not None and not self._turns:
            opening = await self._said(self._person)
            self._task = opening.text
            if opening.tools_changed:
                self._toolbox = await self._toolbox.listed_again()
        self._tell(EpisodeStart(self._task, self._model.name, len(self._toolbox.tools)))
        while (limit := self._limit_reached()) is None:
            began = time.monotonic()
            reply = await self._ask()
            ending = await (self._after_calls(reply, began) if reply.calls else self._after_words(reply))
            if ending is not None:
                return ending
        return limit

    async def _after_words(self, reply: Reply) -> EpisodeEnding | None:
        """Let the user answer a reply without calls. The end, if it was the last one."""
        if not (reply.text.strip() or reply.final or self._rules.silence_counts):
            return None if self._remind() else EpisodeEnding("agent_error", SILENT)
        said_end = self._may_end and self._rules.end_words and self._rules.end_words in reply.text
        if self._person is None or reply.final or said_end or await self._is_over(self._person):
            return EpisodeEnding("finished", self._answer_of(reply))
        return None

    async def _after_calls(self, reply: Reply, began: float) -> EpisodeEnding | None:
        """Make the calls of a reply. The end, if one of them is the last by the rules, or was one too many."""
        unreadable = next((call for call in reply.calls if call.malformed), None)
        if unreadable is not None and self._rules.unreadable == "ends episode":
            raise AgentError(f"the arguments of {unreadable.tool} could not be read: {unreadable.malformed}")
        ends_turn = unreadable is not None and self._rules.unreadable == "ends turn"
        for call in reply.calls:
            await self._make(call, began, without=ends_turn)
        if self._person is not None and any(call.tool in self._rules.last_tools for call in reply.calls):
            return EpisodeEnding("finished", self._answer_of(reply))
        if ends_turn:
            over = self._person is None or await self._is_over(self._person)
            return EpisodeEnding("finished", self._answer_of(reply)) if over else None
        most = self._rules.steps_of_turn
        if most is not None and self._steps_of_turn() >= most:
            return EpisodeEnding("turn_limit", f"a turn of the user was not finished after {most} replies with calls")
        return None

    def _steps_of_turn(self) -> int:
        """The number of replies since the user's last message."""
        spoken = [number for number, turn in enumerate(self._turns, 1) if turn.user]
        return len(self._turns) - (spoken[-1] if spoken else 0)

    @property
    def _may_end(self) -> bool:
        return len(self._turns) >= self._rules.ends_from

    def _limit_reached(self) -> EpisodeEnding | None:
        if len(self._turns) >= self._limits.turns:
            return EpisodeEnding("turn_limit", f"not finished after {self._limits.turns} turns")
        if self._limits.tokens is not None and tokens_of(self._turns) >= self._limits.tokens:
            return EpisodeEnding("token_limit", f"not finished after {self._limits.tokens} tokens")
        return None

    async def _ask(self) -> Reply:
        began = time.monotonic()
        messages = conversation(self._toolbox.instructions, self._task, self._turns)
        reply = await self._model.reply(messages, self._toolbox.tools)
        if self._rules.one_call:
            reply = replace(reply, calls=reply.calls[:1])
        turn = Turn(
            text=reply.text,
            thinking=reply.thinking,
            calls=reply.calls,
            tokens_in=reply.tokens_in,
            tokens_out=reply.tokens_out,
            seconds=time.monotonic() - began,
        )
        self._turns.append(turn)
        self._tell(ModelReply(len(self._turns), turn))
        return reply

    def _answer_of(self, reply: Reply) -> str:
        """The text that is judged: the last message, or in a conversation everything that the user was told.

        The answer lines of a conversation's messages are one line at its end, each value once.
        """
        if self._person is None:
            return reply.text
        told = [turn.text for turn in self._turns if turn.text.strip() and not turn.calls]
        above, lines = zip(*(_parted(text) for text in told), strict=True) if told else ((), ())
        parts = (part.strip().removeprefix("- ") for line in lines for part in _SEPARATOR.split(line))
        values = dict.fromkeys(filter(None, parts))
        return "\n\n".join((*filter(None, above), *([f"Answer: {'; '.join(values)}"] if values else ())))

    async def _is_over(self, person: Person) -> bool:
        """Let the person answer, and store the message in the last turn. True if the conversation is over."""
        saying = await self._said(person)
        if saying.over and self._may_end:
            return True
        if saying.tools_changed:
            self._toolbox = await self._toolbox.listed_again()
        self._turns[-1] = self._turns[-1].model_copy(update={"user": saying.text})
        self._tell(UserReply(saying.text))
        return False

    async def _said(self, person: Person) -> UserMessage:
        silent = self._rules.silence_counts
        words = [turn for turn in self._turns if not turn.calls and (silent or turn.text.strip())]
        told = [Exchange(turn.text, turn.user) for turn in words]
        async with self._time_of(person):
            saying = await person.says(self._task, told)
        self._user_tokens += saying.tokens
        return saying

    @asynccontextmanager
    async def _time_of(self, person: Person) -> AsyncGenerator[None]:
        """Stop the episode's clock while the person is asked. Raises EndpointDown when the person's own time is over.

        Else a user's model that hangs would be a result of the agent.
        """
        now = asyncio.get_running_loop().time
        clock, began = EPISODE_CLOCK.get(), now()
        ends = None if clock is None else clock.when()
        bound = asyncio.timeout(self._users_time)
        before = EPISODE_CLOCK.set(bound)
        if clock is not None:
            clock.reschedule(None)
        try:
            async with bound:
                yield
        except TimeoutError:
            if not bound.expired():
                raise
            took = f"the messages of the simulated user ({person.name}) took {self._limits.seconds:g} s, and the last"
            raise EndpointDown(
                f"{took} one is not there; is its model's server stuck, or the limit too short?"
            ) from None
        finally:
            EPISODE_CLOCK.reset(before)
            self._users_time -= now() - began
            if clock is not None and ends is not None:
                clock.reschedule(ends + now() - began)

    async def _make(self, call: ToolCall, began: float, *, without: bool = False) -> None:
        """Make one call, or answer `without` it. The result is kept at once, even if the episode is cancelled."""
        result = refusal(NOT_MADE) if without else await self._answer(call)
        turn = self._turns[-1]
        seconds = time.monotonic() - began
        self._turns[-1] = turn.model_copy(update={"results": (*turn.results, result), "seconds": seconds})
        self._tell(CallAnswered(call, result))

    async def _answer(self, call: ToolCall) -> ToolResult:
        if call.malformed:
            return refusal(f"the arguments of {call.tool} could not be read: {call.malformed}. Nothing was done.")
        return await self._toolbox.call(call.tool, call.arguments)

    def _remind(self) -> bool:
        """Remind the model, once in an episode, that its reply was empty. False if it was reminded before."""
        if any(turn.user == REMINDER for turn in self._turns):
            return False
        self._turns[-1] = self._turns[-1].model_copy(update={"user": REMINDER})
        return True


def _ignore(_: Event) -> None:
    return


def conversation(instructions: str, task: str, turns: Sequence[Turn]) -> tuple[Message, ...]:
    """The messages: instructions, task, then each turn's reply, results and the user's answer."""
    opening: tuple[Message, ...] = (Instructions(instructions), User(task)) if instructions else (User(task),)
    return (*opening, *(message for turn in turns for message in _messages(turn)))


def _messages(turn: Turn) -> Iterator[Message]:
    yield Reply(turn.text, turn.thinking, turn.calls, turn.tokens_in, turn.tokens_out)
    # An episode that was cut short has calls without a result at its end.
    yield from (CallReply(call, result) for call, result in zip(turn.calls, turn.results, strict=False))
    if turn.user:
        yield User(turn.user)
