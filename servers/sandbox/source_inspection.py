"""Static inspection of bundles' Python: a guest parses it, so an expensive text cannot harm our own processes.

The parser needs 700 bytes of memory for each byte of a source, and a source may be meant to exhaust it.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from servers.bundle.description import Tool
from servers.bundle.environment import Environment
from servers.bundle.files import name_in_commands
from servers.errors import BundleError, GuestDied, GuestLate
from servers.records import Record
from servers.sandbox.guest_pool import START_SECONDS, Guests

GateName = Literal["tools", "checkpoint", "imported"]


class SourceText(NamedTuple):
    """A text of Python, and the gate that it must pass."""

    text: str
    gate: GateName


class Signature(Record):
    """A function at the top level of a module."""

    name: str
    is_async: bool
    positional: tuple[str, ...]
    by_keyword: tuple[str, ...]
    has_more: bool


class SourceInspection(Record):
    """The result of an inspection. With `not_python` there is nothing else."""

    not_python: str | None = None
    functions: tuple[Signature, ...] = ()
    problems: tuple[str, ...] = ()


async def inspected(sources: Sequence[SourceText], guests: Guests) -> list[SourceInspection]:
    """Inspect some texts. Each is parsed by a guest of its own, so that an expensive one ends only that guest."""
    return [await _inspected(source, guests) for source in sources]


async def _inspected(source: SourceText, guests: Guests) -> SourceInspection:
    request = {"do": "inspect", "gate": source.gate}
    try:
        head, _ = await guests.job(request, source.text.encode(), seconds=START_SECONDS)
        return SourceInspection.model_validate(head)
    except GuestLate:
        return _unparsed(f"takes more than {START_SECONDS:g} s to parse")
    except (GuestDied, ValidationError):
        return _unparsed("the process that parsed it ended; is it very long, or deeply nested?")


async def agree(environment: Environment, guests: Guests, *, gated: bool) -> None:
    """Check that the tools of an environment are the functions of its `tools.py`.

    With `gated`, also that the gate accepts them.

    Raises:
        BundleError: the first difference, or the gate's finding.
    """
    [inspection] = await inspected([SourceText(environment.source, gate_of(environment))], guests)
    for problem in inspection.problems if gated else ():
        raise BundleError(f"{environment.folder / 'tools.py'}: {problem}")
    for finding in function_findings(environment, inspection):
        raise BundleError(finding)


def gate_of(environment: Environment) -> GateName:
    """The gate for the tools of an environment."""
    return "tools" if environment.description.imported is None else "imported"


def function_findings(environment: Environment, inspection: SourceInspection) -> Iterator[str]:
    """Differences between `tools.py` and `environment.json`. A benchmark's tools take any arguments."""
    folder, tools = environment.folder, environment.tools
    path, description = folder / "tools.py", folder / "environment.json"
    if inspection.not_python is not None:
        yield f"{path}: {inspection.not_python}"
        return
    for one in inspection.functions:
        if one.is_async:
            yield f"{path}: {one.name}: tools are plain functions, not async"
    public = [one for one in inspection.functions if not one.name.startswith("_") and not one.is_async]
    functions = {one.name: one for one in public}
    for name in sorted(tools.keys() - functions.keys()):
        yield f"{description}: tools.{name}: has no function in tools.py; {_derive_hint(folder)}"
    for name in sorted(functions.keys() - tools.keys()):
        yield f"{path}: {name}: is not among the tools of environment.json; {_derive_hint(folder)}"
    for name in sorted(tools.keys() & functions.keys()) if environment.description.benchmark is None else ():
        yield from _argument_findings(folder, functions[name], tools[name])


def _derive_hint(folder: Path) -> str:
    return f"`farm derive {name_in_commands(folder)} --write` brings environment.json up to date"


def _argument_findings(folder: Path, function: Signature, tool: Tool) -> Iterator[str]:
    path, name = folder / "tools.py", tool.name
    if function.positional != ("db",) or function.has_more:
        yield f"{path}: {name}: takes `db` first and its arguments by keyword: def {name}(db: Database, *, ...)"
    taken, told = set(function.by_keyword), tool.properties.keys()
    for argument in sorted(told - taken):
        place = folder / "environment.json"
        yield f"{place}: tools.{name}.arguments.{argument}: not an argument of the function; {_derive_hint(folder)}"
    for argument in sorted(taken - told):
        yield f"{path}: {name}: argument {argument!r} is not in environment.json; {_derive_hint(folder)}"


def _unparsed(why: str) -> SourceInspection:
    return SourceInspection(not_python=f"the whole: not Python: {why}")
