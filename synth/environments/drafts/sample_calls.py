"""Sample calls on a bundle, each on a fresh copy of its first rows, and their effects."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema_rs

from servers.bundle.tool_schema import validator
from servers.errors import BundleError
from servers.state.rows import RowChange
from servers.text.json_values import is_object
from servers.worker.instance import CallOutcome
from synth.environments.drafts.bundle_folder import Texts
from synth.play.playground import Playground

LONGEST_SHOWN = 900


@dataclass(frozen=True)
class Ask:
    """A call to make: its arguments as written, and the SQL before it."""

    tool: str
    arguments: str
    setup: str = ""


@dataclass(frozen=True)
class Did:
    """The effect of a call. `wrong` says why it could not be made, or what is wrong with its result."""

    outcome: CallOutcome | None
    changes: tuple[RowChange, ...] = ()
    wrong: str = ""

    @property
    def kinds(self) -> set[str]:
        """The kinds of change: `update loans`."""
        return {f"{change.operation} {change.table}" for change in self.changes}

    def as_text(self) -> str:
        """The outcome and the changed rows for a reader."""
        if self.outcome is None:
            return f"could not be made: {self.wrong}"
        lines = [f"{self.outcome.kind}: {_shown(self.outcome.text)}"]
        if self.outcome.detail:
            lines.append(f"(for the author: {self.outcome.detail})")
        for change in self.changes:
            before, after = (json.dumps(one, ensure_ascii=False) for one in (change.before, change.after))
            key = json.dumps(change.key, ensure_ascii=False)
            lines.append(_shown(f"{change.operation} {change.table} {key}: {before} -> {after}"))
        return "\n".join([*lines, *([] if self.changes else ["no row changed"])])


async def played(texts: Texts, asks: Sequence[Ask]) -> list[Did]:
    """Make each call on a copy of its own."""
    with tempfile.TemporaryDirectory(prefix="farm-bundle-") as folder:
        async with Playground(texts.write(Path(folder))) as stage:
            return [await _made(stage, ask) for ask in asks]


async def _made(stage: Playground, ask: Ask) -> Did:
    arguments, wrong = arguments_of(ask.arguments)
    if arguments is None:
        return Did(None, wrong=wrong)
    try:
        scene = await stage.launch(setup=ask.setup)
    except BundleError as error:
        return Did(None, wrong=f"its setup does not run: {str(error).partition(': ')[2]}")
    try:
        outcome = await scene.call(ask.tool, arguments)
        changes = tuple(scene.changed(outcome))
    finally:
        await scene.close()
    wrong = ""
    if outcome.structured is not None:
        try:
            validator(stage.environment.tools[ask.tool].result).validate(outcome.structured)
        except jsonschema_rs.ValidationError as error:
            place = ".".join(str(part) for part in error.instance_path)
            wrong = f"its result is not what its TypedDict says: {place or 'the whole'}: {error.message[:300]}"
    return Did(outcome, changes, wrong)


def arguments_of(text: str) -> tuple[dict[str, Any] | None, str]:
    """Arguments from a JSON object in a text, or its fault."""
    try:
        value = json.loads(text or "{}")
    except ValueError as error:
        return None, f"its arguments are no JSON: {error}"
    if not is_object(value):
        return None, "its arguments are no JSON object"
    return value, ""


def _shown(text: str) -> str:
    if len(text) <= LONGEST_SHOWN:
        return text
    return f"{text[:LONGEST_SHOWN]}[…] (shortened here only: it has {len(text)} characters)"
