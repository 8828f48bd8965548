"""A run of three small stages in a process of its own: `python -m tests.synth.pipeline.tiny PLAN.toml`."""

import asyncio
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console

from servers.errors import FarmError
from servers.records import Record
from synth.llm.endpoint import Embedder
from synth.llm.writer import WriterMessage
from synth.pipeline.artefact import Topic
from synth.pipeline.asker import Asker, gather_all
from synth.pipeline.plan import RunPlan
from synth.pipeline.stage import Artefacts, Stage
from synth.runner.launch import RunSettings


class Tables(Record):
    names: tuple[str, ...]


class Tools(Record):
    names: tuple[str, ...]


class Code(Record):
    functions: tuple[str, ...]


class Function(Record):
    text: str


class Bundle(Record):
    files: int


async def two_at_least(value: Tables | Tools) -> list[str]:
    return [] if len(value.names) > 1 else [f"names: {len(value.names)} is too few; 2 are asked"]


async def a_function(value: Function) -> list[str]:
    return [] if value.text.startswith("def ") else ["text: no function"]


def user(text: str) -> tuple[WriterMessage, ...]:
    return (WriterMessage(role="user", content=text),)


async def tables(made: Artefacts, asker: Asker) -> Tables:
    return await asker.ask(user(f"Which tables has {made[Topic].title}?"), Tables, two_at_least)


async def tools(made: Artefacts, asker: Asker) -> Tools:
    asked = f"Which tools has {made[Topic].title} with the tables {', '.join(made[Tables].names)}?"
    return await asker.ask(user(asked), Tools, two_at_least)


async def code(made: Artefacts, asker: Asker) -> Code:
    wanted = [user(f"Write {name} of {made[Topic].title}.") for name in made[Tools].names]
    functions = await gather_all(asker.ask(one, Function, a_function) for one in wanted)
    text = "\n\n".join(function.text for function in functions)
    made.write(f"bundle/{made.environment}/tools.py", text)
    return Code(functions=tuple(function.text for function in functions))


async def bundle(made: Artefacts, _asker: Asker) -> Bundle:
    return Bundle(files=len(list(made.bundle.iterdir())))


STAGES = (
    Stage("tables", Tables, tables, counts=lambda value: {"tables": len(value.names)}),
    Stage("tools", Tools, tools, counts=lambda value: {"tools": len(value.names)}),
    Stage("code", Code, code),
    Stage("bundle", Bundle, bundle, needs_model=False),
)


class Lines:
    """Mining that asks the writer which lines of the file are best."""

    async def __call__(
        self, tasks: Path, n: int, folder: Path, asker: Callable[[str], Asker], embedder: Embedder | None = None
    ) -> Sequence[Topic]:
        titles = titles_in(tasks)
        asked = "Name the best: " + ", ".join(titles)
        tables = await asker("mine/all").ask(user(asked), Tables, two_at_least)
        return [Topic(title=title) for title in tables.names[:n]]


def titles_in(tasks: Path) -> list[str]:
    return tasks.read_text().splitlines()


def main() -> int:
    try:
        plan = RunPlan.of(Path(sys.argv[1]), {})
        return asyncio.run(RunSettings(STAGES, Lines(), "key-1", Console(highlight=False)).run(plan))
    except FarmError as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
        return 1


if __name__ == "__main__":
    sys.exit(main())
