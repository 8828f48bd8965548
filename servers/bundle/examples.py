"""The examples of an environment: calls with their outcomes, in `examples.json`.

The file is optional, and agents never see it. A proof makes the calls, and learns from them which arguments go
together.
"""

from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter

from servers.bundle.description import Tool
from servers.bundle.files import listed
from servers.errors import BundleError
from servers.records import Record

EXAMPLES_FILE = "examples.json"


class BundleExample(Record):
    """A call after an optional `setup`, and whether it succeeds or is refused."""

    tool: str
    arguments: dict[str, Any] = {}
    setup: str = ""
    outcome: Literal["ok", "refused"] = "ok"


EXAMPLES = TypeAdapter(tuple[BundleExample, ...])


def load_examples(folder: Path) -> tuple[BundleExample, ...]:
    """The examples of a bundle; none when it has no `examples.json`.

    Raises:
        BundleError: the file cannot be read.
    """
    return listed(folder / EXAMPLES_FILE, EXAMPLES)


def example_findings(folder: Path, tools: dict[str, Tool]) -> list[str]:
    """The unknown names in the examples."""
    try:
        examples = load_examples(folder)
    except BundleError as error:
        return [str(error)]
    path = folder / EXAMPLES_FILE
    return [
        f"{path}: {number}.tool: no tool named {example.tool!r}"
        for number, example in enumerate(examples)
        if example.tool not in tools
    ]
