"""Adds the scenarios of a file to a bundle: all or none, and only if all are sound."""

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from servers.authoring.check import findings
from servers.bundle.environment import load
from servers.bundle.examples import EXAMPLES_FILE
from servers.bundle.files import LARGEST_SCENARIOS, SERVED_FILES, copy_files, text_if_there, write_text
from servers.bundle.rules import RULES_FILE
from servers.errors import BundleError, RequestError
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import load_scenarios, read_scenarios

MOST_TOLD = 20
COPIED = (*SERVED_FILES, RULES_FILE, EXAMPLES_FILE, "phrases.json")
"""The files of a bundle that scenarios are checked with."""


async def add_scenarios(folder: Path, file: Path) -> list[str]:
    """Add the scenarios of a file to a bundle, and return their ids.

    Raises:
        BundleError: a scenario or the bundle has a fault.
        RequestError: the file cannot be read or holds no scenario, or the bundle has one already, by id or by content.
    """
    try:
        text = text_named(file, largest=LARGEST_SCENARIOS)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{file}: cannot be read: {trouble(error)}") from None
    new = await _sound(folder, file, text)
    there = load_scenarios(load(folder))
    twice = list(_twice(new, list(there.values())))
    if twice:
        raise RequestError(_listed([f"{file}: {one}" for one in twice]))
    own = folder / "scenarios.jsonl"
    before = text_if_there(own) or ""
    write_text(own, before + ("" if before.endswith("\n") or not before else "\n") + text.rstrip("\n") + "\n")
    return [one.id for one in new]


async def _sound(folder: Path, file: Path, text: str) -> list[Scenario]:
    """The scenarios of a file, checked as those of the bundle. Raises BundleError with all findings."""
    with tempfile.TemporaryDirectory(prefix="farm-") as scratch:
        trial = _copied(folder, Path(scratch))
        write_text(trial / "scenarios.jsonl", text)
        found, new = read_scenarios(trial, load(folder))
        if not found:
            bare = [one.model_copy(update={"certificate": None}) for one in new]  # an outdated one can be renewed
            write_text(trial / "scenarios.jsonl", "".join(f"{one.model_dump_json()}\n" for one in bare))
            async with Guests() as guests:
                found = await findings(trial, guests, library=folder.parent)
        if found:
            told = [one.replace(str(trial / "scenarios.jsonl"), str(file)) for one in found]
            raise BundleError(_listed([one.replace(str(trial), str(folder)) for one in told]))
        if not new:
            raise RequestError(f"{file}: there is no scenario in it")
        return new


def _copied(folder: Path, scratch: Path) -> Path:
    """A writable copy of a bundle, for checks.

    Its scenarios and its proof are left out.
    """
    copy = scratch / folder.name
    copy.mkdir()
    copy_files(folder, COPIED, copy)
    return copy


def _twice(new: Sequence[Scenario], there: Sequence[Scenario]) -> Iterator[str]:
    """Each new scenario that the bundle already has."""
    ids = {one.id for one in there}
    same = {_but_for_its_name(one): one.id for one in there}
    for one in new:
        if one.id in ids:
            yield f"scenario {one.id!r} is there already"
        elif (other := same.get(_but_for_its_name(one))) is not None:
            yield f"scenario {one.id!r} is there already, as {other!r}"


def _but_for_its_name(scenario: Scenario) -> str:
    return scenario.model_dump_json(exclude={"id", "certificate"})


def _listed(found: Sequence[str]) -> str:
    more = [f"… and {len(found) - MOST_TOLD} more"] if len(found) > MOST_TOLD else []
    return "\n".join([*found[:MOST_TOLD], *more, "nothing was added"])
