"""`farm check`, `farm derive` and `farm serve`, run as people and MCP clients run them."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters

from tests import processes
from tests.bundles import with_description
from tests.processes import Done

ROOT = Path(__file__).parents[2]


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(shelf / "shop", tmp_path / "shop"))


async def farm(*arguments: str | Path) -> Done:
    """Run the command on a terminal of ordinary width."""
    return await processes.farm(*arguments, home=ROOT, COLUMNS="80")


async def test_check_says_that_a_bundle_is_sound(shop: Path) -> None:
    done = await farm("check", shop, "library_loans")
    assert (done.code, done.err) == (0, "")
    first, second = done.out.splitlines()
    assert first == "shop: sound (4 tools, 1 scenario)"
    assert second.startswith("library_loans: sound (19 tools, ")


CHECK = "def check(start, final, answer, calls):\n    "


@pytest.mark.parametrize(
    ("checkpoint", "is_advised"),
    [
        ({"kind": "sql", "sql": "SELECT :answer LIKE '%12%'", "expect": [[1]]}, True),
        ({"kind": "python", "python": f"{CHECK}return '12' in answer\n"}, True),
        (
            {"kind": "python", "python": f"{CHECK}return True  # no answer\n"},
            False,
        ),
    ],
)
async def test_check_advises_a_fact_where_words_of_an_answer_are_looked_for(
    shop: Path, checkpoint: dict[str, Any], is_advised: bool
) -> None:
    path = shop / "scenarios.jsonl"
    scenario = json.loads(path.read_text().splitlines()[0])
    goal = {"id": "words", "role": "goal", "question": "Does it tell 12?", **checkpoint}
    scenario = {**scenario, "checkpoints": [*scenario["checkpoints"], goal], "certificate": None}
    path.write_text(json.dumps(scenario) + "\n")
    done = await farm("check", shop)
    *advice, last = done.out.splitlines()
    assert (done.code, last) == (0, "shop: sound (4 tools, 1 scenario)")
    assert len(advice) == is_advised
    assert all(line.startswith("advice: ") and "checkpoints.words" in line for line in advice)


async def test_check_prints_every_finding_on_a_line_of_its_own(shop: Path, shelf: Path) -> None:
    with_description(shop, id="store", port=80)
    (shop / "seed.sql").unlink()
    (shop / "scenarios.jsonl").write_text('{"id": "x"}\n')
    done = await farm("check", shop, shelf / "shop")
    assert done.code == 1
    lines = done.out.splitlines()
    assert any(line.startswith(f"{shop}/seed.sql: the file is missing; ") for line in lines)
    assert f"{shop}/environment.json: port: no such key" in lines
    assert f"{shop}/scenarios.jsonl: line 1: title: is missing" in lines
    assert f"{shop}/scenarios.jsonl: line 1: checkpoints: is missing" in lines
    assert lines[-1] == "shop: sound (4 tools, 1 scenario)"
    assert "Traceback" not in done.err


@pytest.mark.parametrize("command", ["check", "derive", "serve"])
async def test_a_bundle_that_is_not_there_is_a_misuse(command: str) -> None:
    done = await farm(command, "no_such_bundle")
    assert (done.code, done.out) == (2, "")
    assert done.err == "farm: no_such_bundle: no such bundle; `farm environments` lists those that there are\n"


async def test_a_list_without_a_benchmark_says_how_one_is_imported() -> None:
    done = await farm("environments", "--benchmarks")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("There are none here: `farm import --help`")


@pytest.mark.parametrize("arguments", [["fly"], ["check"], ["derive", "--fast", "library_loans"]])
async def test_an_unknown_command_or_option_is_a_misuse(arguments: list[str]) -> None:
    assert (await farm(*arguments)).code == 2


async def test_derive_prints_the_schemas_and_writes_nothing(shop: Path) -> None:
    before = (shop / "environment.json").read_bytes()
    done = await farm("derive", shop)
    assert done.code == 0
    assert json.loads(done.out) == json.loads(before)["tools"]
    assert (shop / "environment.json").read_bytes() == before


async def test_derive_with_write_brings_a_bundle_up_to_date(shop: Path) -> None:
    described = json.loads((shop / "environment.json").read_text())
    with_description(shop, tools=[])
    checked = await farm("check", shop)
    assert (checked.code, f"`farm derive {shop} --write`" in checked.out + checked.err) == (1, True), checked
    done = await farm("derive", shop, "--write")
    assert done.code == 0
    assert "4 tools written" in " ".join(done.out.split())
    assert json.loads((shop / "environment.json").read_text()) == described
    assert (await farm("check", shop)).code == 0


def unfinished(folder: Path) -> list[Path]:
    """Files that were being written."""
    return list(folder.glob("*.part"))


@pytest.mark.parametrize("content", ["{", "[]", None])
async def test_derive_writes_into_no_file_that_is_no_description(shop: Path, content: str | None) -> None:
    path = shop / "environment.json"
    path.unlink()
    if content is not None:
        path.write_text(content)
    done = await farm("derive", shop, "--write")
    assert done.code == 1
    assert done.err.startswith(f"farm: {path}: ")
    assert unfinished(shop) == []
    assert (path.read_text() if content is not None else None) == content


async def test_derive_says_what_cannot_be_described(shop: Path) -> None:
    with (shop / "tools.py").open("a") as file:
        file.write("\n\ndef bad(db, *, x): ...\n\n\ndef worse(): ...\n")
    done = await farm("derive", shop)
    assert done.code == 1
    assert f"farm: {shop}: tools.py: bad: has no docstring" in done.err
    assert f"{shop}: tools.py: worse: has no docstring" in done.err


async def test_serve_refuses_a_scenario_that_is_not_there() -> None:
    done = await farm("serve", "library_loans", "--scenario", "../x")
    assert done.code == 2
    assert "library_loans has no scenario '../x'; `farm scenarios library_loans` lists" in done.err


async def test_serve_speaks_mcp_over_standard_input_and_output() -> None:
    arguments = [str(ROOT / "farm.py"), "serve", "library_loans", "--scenario", "renewal_while_others_wait"]
    server = StdioServerParameters(command=sys.executable, args=arguments)
    async with Client(server) as client:
        assert "library" in (client.instructions or "")
        tools = (await client.list_tools()).tools
        assert "renew_loan" in [tool.name for tool in tools]
        found = await client.call_tool("find_loans", {"member_id": "mem_elif", "status": "open"})
        assert found.structured_content is not None
        assert found.structured_content["loans"][0]["due_on"] == "2026-03-21"  # by the scenario's setup
        refused = await client.call_tool("renew_loan", {"loan_id": "loan_0028"})
        assert refused.is_error
        assert "somebody is waiting for this book" in refused.model_dump_json()
