"""A rewriting that does what its imported environment does equals it. One that is wrong in one small way does not."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from synth.play.playground import Playground
from synth.relational.equivalence import Equivalence, compare_open
from synth.relational.twin_file import DeclaredDifference
from tests.synth.relational.shelf import DIFFERENCES, LOADING, STATE, TOOLS, rewritten, shelf, twin

CALLS = 60
NO_NAME = 'if not name:\n        raise ToolError("A box has a name")\n'
NEGATIVE = '    if count < 0:\n        raise ToolError("The count is negative")\n'
WRONG: tuple[dict[str, tuple[str, str]], ...] = (
    {  # one for each tool, so that one comparison shows several
        "add_box": ("if count < 0:", "if count <= 0:"),
        "take": ('"There are only {there}"', '"Only {there} are there"'),
        "note": ("text=text)\n    return {}", "text=text.strip())\n    return {}"),
        "drop": ('    db.run("DELETE FROM notes WHERE box_id = :id", id=box_id)\n', ""),
        "list_boxes": ("WHERE place = :place ORDER", "WHERE lower(place) = lower(:place) ORDER"),
    },
    {
        "add_box": ("if not name:", "if name is None:"),
        "take": ('{"left": there - count}', '{"left": there}'),
        "note": ("INSERT OR REPLACE", "INSERT OR IGNORE"),
        "list_boxes": ("SELECT box_id, name, count, place", "SELECT box_id, place AS name, count, place"),
    },
    {
        "add_box": (f"{NO_NAME}{NEGATIVE}", f"{NEGATIVE.removeprefix('    ')}    {NO_NAME}"),
        "take": ("if count > there:", "if count >= there:"),
        "list_boxes": ("ORDER BY box_id", "ORDER BY box_id LIMIT 1"),
    },
    {"add_box": ('f"added {box_id}"', "f\"added {db.new_id('box')}\""), "take": ("return int(row", "return int(place")},
)


async def compared(folder: Path, there: Playground, source: str = TOOLS, **changes: object) -> Equivalence:
    async with Playground(await rewritten(folder, source)) as here:
        return await compare_open(there, here, twin(there.folder, **changes), calls=CALLS)


def about(findings: Sequence[str], tool: str) -> bool:
    return any(finding.startswith(f"{tool}: ") for finding in findings)


async def test_a_right_rewriting_is_equal_and_every_tool_and_difference_was_seen(tmp_path: Path) -> None:
    async with Playground(await shelf(tmp_path)) as there:
        found = await compared(tmp_path, there)
    assert found.findings == []
    assert found.calls > CALLS
    assert (found.starts, found.states > 10) == (2, True)
    assert all(times > 0 for times in found.differences)
    assert set(found.tools) == {"list_boxes", "add_box", "take", "note", "drop"}
    assert all(one.ok > 2 for one in found.tools.values())
    assert found.tools["drop"].differed == found.differences[1]
    assert found.tools["list_boxes"].differed == 0  # another order alone is no other result


@pytest.mark.slow
async def test_a_rewriting_that_is_wrong_in_one_small_way_is_caught(tmp_path: Path) -> None:
    async with Playground(await shelf(tmp_path)) as there:
        for number, wrongs in enumerate(WRONG):
            source = TOOLS
            for right, wrong in wrongs.values():
                assert right in source
                source = source.replace(right, wrong)
            found = await compared(tmp_path / str(number), there, source)
            assert [tool for tool in wrongs if not about(found.findings, tool)] == [], found.findings


@pytest.mark.slow
async def test_only_declared_differences_are_allowed_and_they_excuse_little(tmp_path: Path) -> None:
    lazy = DeclaredDifference(tool="take", kind="refuses", says="nothing is taken", why="it is easier like that")
    few = '    if there < 40:\n        raise ToolError("nothing is taken")\n'
    source = TOOLS.replace("    if count > there:", f"{few}    if count > there:")
    async with Playground(await shelf(tmp_path)) as there:
        plain = await compared(tmp_path / "plain", there, differences=())
        excused = await compared(tmp_path / "lazy", there, source, differences=(*DIFFERENCES, lazy))
    assert any("list_boxes" in finding and "the results differ" in finding for finding in plain.findings)
    assert any("drop" in finding and "KeyError" in finding for finding in plain.findings)
    assert any("both refuse" in finding for finding in excused.findings)  # in other words: that was not declared


@pytest.mark.slow
async def test_what_is_wrong_before_any_call_is_said(tmp_path: Path) -> None:
    loses = STATE[0].model_copy(update={"sql": STATE[0].sql.replace("'count', count, ", "")})
    loading = LOADING.replace("WHERE attribute = 'notes'", "WHERE attribute = 'x'")
    other = TOOLS.replace("*, box_id: str, text: str", "*, box_id: str, text: str | None")
    async with Playground(await shelf(tmp_path)) as there:
        start = "the states differ: boxes['B2'] has the fields box_id, name, count, place; here box_id, name, place"
        assert (await compared(tmp_path / "a", there, state=(loses, STATE[1]))).findings[0].endswith(start)
        assert (await compared(tmp_path / "b", there, loading_sql=loading)).findings == [
            "at the start task_1 the states differ: notes: the entry 'B3' is not there:"
            ' {"box_id": "B3", "text": "the small ones"}'
        ]
        assert (await compared(tmp_path / "c", there, other)).findings == [
            "note: takes other arguments than the imported tool"
        ]
        assert (await compared(tmp_path / "d", there, digest="of another one")).findings == [
            "env_1: is not what this bundle was written from"
        ]
