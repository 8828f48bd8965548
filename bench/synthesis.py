"""The cost of a synthesis run beside the model: `python -m bench.synthesis`.

64 environments go through stages of one question each, concurrently. An endpoint in another process answers from a
recording after a second. The overhead is the run's time minus one second for each stage.
"""

import json
import sys
import tempfile
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from time import perf_counter, process_time
from typing import NamedTuple

import uvloop
from rich.console import Console

from bench import processes
from servers.records import Record
from synth.llm.exchange import sent
from synth.llm.writer import WriterMessage
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker
from synth.pipeline.plan import RunPlan
from synth.pipeline.stage import Artefacts, Stage
from synth.runner.launch import RunSettings

ENVIRONMENTS = 64
STAGES = 30
DELAY = 1.0
WANTED = 0.05
PROSE = "Write what this stage has to write, in the form that was asked for, and leave nothing out. " * 60


class Text(Record):
    """The output of a stage here: about as long as a real one."""

    stage: int
    lines: tuple[str, ...]


async def fine(_text: Text) -> list[str]:
    """No finding."""
    return []


def question(title: str, number: int) -> tuple[WriterMessage, ...]:
    """The messages of a request."""
    return (
        WriterMessage(role="system", content=PROSE),
        WriterMessage(role="user", content=f"Stage {number} of {title}"),
    )


def stage(number: int) -> Stage:
    """One of the stages."""

    async def make(made: Artefacts, asker: Asker) -> Text:
        text = await asker.ask(question(made[Topic].title, number), Text, fine)
        made.write(f"stage{number}.txt", "\n".join(text.lines))
        return text

    return Stage(f"stage{number}", Text, make)


def write_recording(path: Path, titles: Sequence[str]) -> None:
    """Write the endpoint's answers."""
    with path.open("w", encoding="utf-8") as file:
        for title in titles:
            for number in range(STAGES):
                answer = {"stage": number, "lines": [f"line {at} of {title}" for at in range(100)]}
                message = {"role": "assistant", "content": json.dumps(answer)}
                response = {
                    "model": "recorded",
                    "choices": [{"message": message, "finish_reason": "stop"}],
                    "usage": {"prompt_tokens": 1500, "completion_tokens": 800},
                }
                request = {"messages": sent(question(title, number), Text.model_json_schema())}
                file.write(json.dumps({"request": request, "response": response}) + "\n")


class Took(NamedTuple):
    """The wall-clock and processor seconds of a run in this process."""

    wall: float
    processor: float


def measured(folder: Path) -> Took:
    """One run."""
    titles = [f"Environment {number}" for number in range(ENVIRONMENTS)]
    write_recording(folder / "recording.jsonl", titles)
    port = processes.free_port()
    with processes.started("bench.slow_endpoint", str(DELAY), str(folder / "recording.jsonl"), port=port):
        base_url = f"http://127.0.0.1:{port}/v1"
        plan = RunPlan(out=folder / "run", topics=tuple(titles), base_url=base_url, model="m", at_once=ENVIRONMENTS)
        start = RunSettings([stage(number) for number in range(STAGES)], None, "", Console(file=StringIO()))
        begin, worked = perf_counter(), process_time()
        code = uvloop.run(start.run(plan))
        took = Took(perf_counter() - begin, process_time() - worked)
    assert code == 0, "the run broke"
    return took


def main() -> int:
    """Measure. Exit code 1 if a target is missed."""
    with tempfile.TemporaryDirectory() as scratch:
        took = measured(Path(scratch))
    model = STAGES * DELAY
    share = (took.wall - model) / took.wall
    print(
        f"{ENVIRONMENTS} environments at once, {STAGES} questions each, {DELAY:g} s an answer: {took.wall:.2f} s; "
        f"{model:g} s of them the model's, {share:.1%} beside it (wanted: under {WANTED:.0%}); "
        f"{took.processor:.2f} s of processor time."
    )
    return 0 if share < WANTED else 1


if __name__ == "__main__":
    sys.exit(main())
