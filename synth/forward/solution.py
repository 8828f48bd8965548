"""A passing run as a reference solution: values that were looked up or made become references to their call."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, cast

from agent_client.json_values import with_texts
from agent_client.trace import ToolCall, ToolResult, Trace
from servers.scenario.scenario import PlannedCall, Solution
from servers.text.json_leaves import leaves
from synth.forward.checks import Free
from synth.solutions.normalized_diff import MADE_ID

SHORTEST = 3


class SolutionStep(NamedTuple):
    """A call and its result."""

    call: ToolCall
    result: ToolResult


def steps_of(trace: Trace) -> list[SolutionStep]:
    """The sent calls of a run, in order."""
    pairs = [pair for turn in trace.turns for pair in zip(turn.calls, turn.results, strict=False)]
    return [SolutionStep(call, result) for call, result in pairs if not call.malformed]


def solutions(trace: Trace, task: str, free: Sequence[Free]) -> Iterator[Solution]:
    """The run without refused or repeated calls, and then the run as it was. The caller tests which one passes."""
    every = steps_of(trace)
    brief = list(_needed(every))
    for steps in [brief, every] if len(brief) < len(every) else [every]:
        yield _solution(steps, trace.answer, task, free)


def _needed(steps: Sequence[SolutionStep]) -> Iterator[SolutionStep]:
    seen: list[tuple[str, str]] = []
    for step in steps:
        same = (step.call.model_dump_json(exclude={"id"}), step.result.text)
        if not step.result.is_error and same not in seen:
            seen.append(same)
            yield step


def _solution(steps: Sequence[SolutionStep], answer: str, task: str, free: Sequence[Free]) -> Solution:
    results = [step.result for step in steps]
    calls = tuple(
        PlannedCall(
            tool=step.call.tool,
            arguments=cast("dict[str, Any]", _referring(step.call.arguments, results[:at], task)),
            free=tuple(one.argument for one in free if _gives(step.call, one)),
        )
        for at, step in enumerate(steps)
    )
    for made in sorted(set(MADE_ID.findall(answer))):
        answer = answer.replace(made, _place(made, results) or made)
    return Solution(calls=calls, answer=answer)


def _gives(call: ToolCall, free: Free) -> bool:
    return call.tool == free.tool and free.argument in call.arguments


def _referring(value: Any, results: Sequence[ToolResult], task: str) -> Any:
    """The same value with references for texts that an earlier result has and the task does not."""

    def referring(text: str) -> str:
        is_own = len(text) < SHORTEST or text in task or " " in text
        return text if is_own else _place(text, results) or text

    return with_texts(value, referring)


def _place(value: str, results: Sequence[ToolResult]) -> str:
    """A reference to the first result that has a value. Empty if none has."""
    for number, result in enumerate(results, start=1):
        for path, other in leaves(result.structured, ""):
            if other == value:
                return f"${{{number}{path}}}"
    return ""
