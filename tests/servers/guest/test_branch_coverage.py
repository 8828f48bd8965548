"""Branches are counted, noted inside a guest that covers, never in an ordinary one; tools do the same."""

from pathlib import Path

import pytest

from servers.bundle_library import Library
from servers.guest.branch_coverage import branches, notes, noting
from servers.messages import Launch
from servers.worker.instance import CallOutcome, Instance
from servers.worker.settings import WorkerSettings
from servers.worker.worker import Worker
from tests.bundles import write_bundle

BRANCHING = '''
def _kind(number: int) -> str:
    match number:
        case 0:
            return "none"
        case _:
            return "some"


def go(db: Database, *, number: int, texts: list[str]) -> dict:
    """Go one way or another.

    Args:
        number: How many.
        texts: What to look at.
    """
    found = [text for text in texts if text]
    for text in found:
        number += len(text)
    while number > 10:
        number -= 10
    try:
        share = 1 / number
    except ZeroDivisionError:
        share = 0
    if number < 0:
        raise ToolError(f"{number} is less than nothing")
    return {"kind": _kind(number), "share": share, "big": "yes" if number > 5 else "no"}
'''


def taken_by(source: str, *values: int) -> list[str]:
    """What a function `f` of a source takes, as `line way`."""
    taken: set[int] = set()
    module = dict[str, object](notes(taken))
    exec(compile(noting(source), "tools.py", "exec"), module)  # noqa: S102 - the source is this test's own
    function = module["f"]
    assert callable(function)
    for value in values:
        function(value)
    found = branches(source)
    return [f"{found[number].line} {found[number].way}" for number in sorted(taken)]


@pytest.mark.parametrize(
    ("source", "values", "taken"),
    [
        ("def f(x):\n  if x:\n    return 1", [0], ["1 f is called", "2 the condition does not hold"]),
        ("def f(x):\n  return 1 if x else 2", [1, 2], ["1 f is called", "2 the condition holds"]),
        ("def f(x):\n  for y in range(x):\n    pass", [0], ["1 f is called", "2 there is nothing to go through"]),
        ("def f(x):\n  for y in range(x):\n    break", [3], ["1 f is called", "2 there is something to go through"]),
        ("def f(x):\n  'About it.'\n  while True:\n    return x", [3], ["1 f is called"]),
    ],
)  # fmt: skip
def test_each_way_to_go_is_noted(source: str, values: list[int], taken: list[str]) -> None:
    assert taken_by(source, *values) == taken


async def outcomes(worker: Worker) -> list[CallOutcome]:
    [ticket] = await worker.launch(Launch(environment="shop"))
    instance: Instance = worker.find(ticket.instance)
    calls: list[tuple[int, list[str]]] = [(0, []), (-4, [""]), (3, ["ab", ""]), (25, ["x"])]
    return [await instance.call("go", {"number": number, "texts": texts}) for number, texts in calls]


async def test_tools_that_note_their_branches_answer_as_others_do(tmp_path: Path) -> None:
    folder = await write_bundle(tmp_path / "shelf" / "shop", tools=BRANCHING, scenarios=())
    library = Library([folder.parent])
    environment = library.environment("shop")
    async with (
        Worker(library, tmp_path / "a") as plain,
        Worker(library, tmp_path / "b", WorkerSettings(covering=True)) as covering,
    ):
        told = [[(one.kind, one.text) for one in await outcomes(worker)] for worker in (plain, covering)]
        assert told[0] == told[1]
        assert await plain.guests.taken(environment) == set()
        assert await covering.guests.taken(environment) == set(range(len(branches(environment.source))))
