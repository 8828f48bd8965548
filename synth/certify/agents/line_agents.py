"""Wrong agents that do everything right and put their matter behind "Answer:", where values are read.

They know the form of a right last line, and no checkpoint. Where the right answer has no such line, they have nothing
to put beside its values, and only try the line alone.
"""

from collections.abc import Iterator
from itertools import islice

from synth.certify.agents.wrong_agents import MOST_RUNS, AgentRun, Script, shown_values
from synth.certify.agents.wrong_answers import counted_on
from synth.solutions.last_line import HEAD

DONE = "All is done."


def line_near_miss(script: Script) -> Iterator[AgentRun]:
    """Tell neighbours of the right values in the line, below none of the right words, and below all but the line."""
    above, right = _split(script.answer)
    beside = (above, DONE) if _line_of(script) else (DONE,)
    wrong = dict.fromkeys((_split(script.contradiction)[1], counted_on(right), counted_on(counted_on(right))))
    for line in wrong:
        if line != right:
            for words in beside:
                yield AgentRun(script.steps, f"{words}\n{HEAD}{line}", added=f"{HEAD}{line}")


def line_paster(script: Script) -> Iterator[AgentRun]:
    """Put results into the line: alone, behind the right values, and above them.

    The text of a refusal is no paste: it is a reason in the tool's own words.
    """
    right = _line_of(script)
    shown = " ".join(text for text in script.texts if text)
    results = [text for text, result in zip(script.texts, script.results, strict=True) if result is not None]
    last = results[-1] if results else shown
    beside = (f"{right}; {shown}", f"{shown}; {right}", f"{right}\n{last}") if right else ()
    for text in (shown, last, *beside):
        yield AgentRun(script.steps, f"{HEAD}{text}")


def line_lister(script: Script) -> Iterator[AgentRun]:
    """List candidates in the line: all that the look-ups showed, and values before and behind the right ones."""
    right = _line_of(script)
    values = list(dict.fromkeys(value for told in shown_values(script).values() for value in told))
    yield AgentRun(script.steps, f"{HEAD}{'; '.join(values)}")
    yield AgentRun(script.steps, f"{HEAD}{', '.join(values)}")
    others = list(islice(_counting_on(right), MOST_RUNS))
    if right:
        yield AgentRun(script.steps, f"{HEAD}{'; '.join((right, *values))}")
    if others:
        yield AgentRun(script.steps, f"{HEAD}{'; '.join((right, *others))}")
        yield AgentRun(script.steps, f"{HEAD}{'; '.join((*others, right))}")
        yield AgentRun(script.steps, f"{HEAD}{', '.join((right, *others))}")


def line_hedger(script: Script) -> Iterator[AgentRun]:
    """Leave open in the line which value is right, or take it back."""
    right = _line_of(script)
    wrong = next(_counting_on(right), "") or _split(script.contradiction)[1]
    if not right or wrong == right:
        return
    for line in (
        f"{right} or {wrong}",
        f"{wrong} or {right}",
        f"{right} ({wrong})",
        f"{right}; no, sorry, {wrong}",
        f"perhaps {right}",
    ):
        yield AgentRun(script.steps, f"{DONE}\n{HEAD}{line}", added=f"{HEAD}{wrong}")
    yield AgentRun(script.steps, f"{DONE}\n{HEAD}{right}\n{HEAD}{wrong}", added=f"{HEAD}{wrong}")


def line_echo(script: Script) -> Iterator[AgentRun]:
    """Repeat the task in the line, alone and behind the right values."""
    yield AgentRun(script.steps, f"{HEAD}{script.task}")
    if _line_of(script):
        yield AgentRun(script.steps, f"{HEAD}{_line_of(script)}; {script.task}")


def _line_of(script: Script) -> str:
    """What stands in the last line of the right answer. Empty if it has none."""
    return script.answer.partition(f"\n{HEAD}")[2]


def _split(answer: str) -> tuple[str, str]:
    """The words above a last line, and what stands in it. An answer without one is both."""
    above, head, line = answer.partition(f"\n{HEAD}")
    return (above, line) if head else (answer, answer)


def _counting_on(line: str) -> Iterator[str]:
    """A line with consecutive values."""
    following = counted_on(line)
    while following != line:
        yield following
        line, following = following, counted_on(following)
