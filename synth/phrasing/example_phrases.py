"""What `examples.json` tells a drawer: the words and choices of calls that were carried out, as they go together."""

from collections.abc import Sequence
from typing import Any

from servers.bundle.description import Tool
from servers.bundle.examples import BundleExample
from synth.solutions.argument_sources import Argument, Arguments

Calls = dict[str, list[dict[str, Any]]]


def sayings(examples: Sequence[BundleExample], arguments: Arguments) -> Calls:
    """For each command, what its examples give: words, choices, and whatever they need not have given.

    Dates and amounts belong to the rows that an example is about, so those that a command needs are drawn anew.
    """
    found: Calls = {}
    for example in examples:
        tool = arguments.tools.get(example.tool)
        if tool is not None and tool.writes and example.outcome == "ok":
            told = {
                one.name: example.arguments[one.name] for one in arguments.of(tool) if _goes_along(one, tool, example)
            }
            if told not in found.setdefault(tool.name, []):
                found[tool.name].append(told)
    return found


def _goes_along(one: Argument, tool: Tool, example: BundleExample) -> bool:
    if example.arguments.get(one.name) is None:
        return False
    is_row = one.source.kind == "id"
    is_needed = one.name in tool.required
    return not is_needed if is_row else one.source.kind in ("text", "email") or not is_needed
