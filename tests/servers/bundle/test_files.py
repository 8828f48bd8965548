"""A bundle is text in regular files of its own folder, whatever else lies there."""

import asyncio
import json
import os
import shutil
import socket
import threading
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from servers.authoring.check import derived, findings
from servers.bundle.environment import Environment, load, read_environment
from servers.bundle.files import (
    LARGEST,
    LARGEST_DESCRIPTION,
    LARGEST_SCENARIOS,
    BundleFolder,
    opened,
    text_if_there,
    write_text,
)
from servers.bundle_library import OWN_LIBRARY, Library
from servers.errors import BundleError
from servers.messages import Launch
from servers.sandbox.guest_pool import Guests
from servers.sandbox.source_inspection import SourceText, inspected
from servers.scenario.scenario_file import load_scenarios
from servers.state.state_file import SUFFIX, StateFile
from servers.worker.worker import Worker
from synth.prove.proof import load_proof
from tests.bundles import SOUND_SCENARIO, with_description, write_bundle
from tests.library import of_each_environment

SECRET = "the farm's token"


@pytest.fixture
def shop(shelf: Path, tmp_path: Path) -> Path:
    """A sound bundle to break, in a library of its own."""
    return Path(shutil.copytree(shelf / "shop", tmp_path / "library" / "shop"))


def a_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        before = Path.cwd()
        os.chdir(path.parent)  # the path of a socket is short
        try:
            end.bind(path.name)
        finally:
            os.chdir(before)


def sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


ODD: dict[str, tuple[Callable[[Path], object], str]] = {
    "a named pipe": (os.mkfifo, "it is a named pipe"),
    "a socket": (a_socket, "it is a socket"),
    "a folder": (lambda path: path.mkdir(), "it is a folder"),
    "a link to a file": (lambda path: path.symlink_to(path.parent.parent / "token"), "it is a symbolic link"),
    "a link to nothing": (lambda path: path.symlink_to("nowhere"), "it is a symbolic link"),
    "a link to itself": (lambda path: path.symlink_to(path.name), "it is a symbolic link"),
    "a link to a device": (lambda path: path.symlink_to("/dev/zero"), "it is a symbolic link"),
    "a link within the bundle": (lambda path: path.symlink_to("schema.sql"), "it is a symbolic link"),
    "a second name of a file": (lambda path: path.hardlink_to(path.parent.parent / "token"), "it has 2 names"),
    "a terabyte of nothing": (sparse, "larger than"),
    "a byte order mark": (lambda path: path.write_bytes(b"\xef\xbb\xbfx"), "begins with a byte order mark"),
    "a NUL": (lambda path: path.write_bytes(b"x\0y"), "holds a NUL character, at byte 1"),
    "bytes that are not UTF-8": (lambda path: path.write_bytes(b"x\xff"), "not UTF-8 at byte 1"),
}


@pytest.mark.parametrize("name", ["policy.md", "seed.sql"])
@pytest.mark.parametrize("odd", ODD)
def test_what_is_no_text_in_a_regular_file_is_refused_by_its_name(shop: Path, odd: str, name: str) -> None:
    (shop.parent / "token").write_text(SECRET)
    (shop / name).unlink()
    put_there, finding = ODD[odd]
    put_there(shop / name)
    [found] = read_environment(shop)[0]
    assert found.startswith(f"{shop / name}: ")
    assert finding in found
    assert SECRET not in found


def test_a_long_seed_is_read_in_pieces_and_held_by_nobody(shop: Path) -> None:
    text = "-- é\n" * 1_000_000  # letters of two bytes lie across the pieces
    (shop / "seed.sql").write_text(text)
    tracemalloc.start()
    try:
        environment = load(shop)
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < len(text)
    assert environment.seed_script.size == len(text.encode())
    assert environment.seed == text
    assert load(shop).digest == environment.digest
    (shop / "seed.sql").write_bytes(text.encode() + b"\xc3")
    with pytest.raises(BundleError, match=f"not UTF-8 at byte {len(text.encode())}"):
        load(shop)


@pytest.mark.parametrize("name", [*sorted(LARGEST), "rules.json", "examples.json", "phrases.json", "paraphrases.json"])
async def test_no_file_of_a_bundle_is_read_through_a_link(shop: Path, name: str) -> None:
    (shop.parent / "token").write_text(SECRET)
    (shop / name).unlink(missing_ok=True)
    (shop / name).symlink_to(shop.parent / "token")
    async with Guests() as guests:
        try:
            found = [*await findings(shop, guests), str(load_proof(shop))]
        except BundleError as error:
            found = [str(error)]
    assert [one for one in found if f"{shop / name}: cannot be read: it is a symbolic link" in one], found
    assert SECRET not in "".join(found)


def test_a_folder_that_is_a_link_is_no_bundle(shop: Path) -> None:
    (shop.parent / "other").symlink_to(shop)
    library = Library([shop.parent])
    assert library.ids() == ["other", "shop"]
    with pytest.raises(BundleError, match="it is a symbolic link"):
        library.environment("other")


def test_the_way_to_a_library_may_hold_links(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "by_link").symlink_to(shop.parent)
    assert Library([tmp_path / "by_link"]).environment("shop").id == "shop"


def test_the_farms_own_files_may_have_several_names(tmp_path: Path) -> None:
    """Installers link them from a cache."""
    name = OWN_LIBRARY / "parcel_room" / "policy.md"
    try:
        (tmp_path / "cache").hardlink_to(name)
    except OSError:
        pytest.skip("another file system")
    assert load(OWN_LIBRARY / "parcel_room").policy


@pytest.mark.parametrize("name", sorted(LARGEST))
def test_a_file_is_bounded_by_its_kind(shop: Path, name: str) -> None:
    (shop / name).write_bytes(b" " * LARGEST[name])
    assert text_if_there(shop / name) is not None
    (shop / name).write_bytes(b" " * (LARGEST[name] + 1))
    with pytest.raises(BundleError, match="larger than"):
        text_if_there(shop / name)


class Growing(BundleFolder):
    """A folder whose file grows after it was looked at."""

    def _refuse_others(self, path: Path, found: os.stat_result, largest: int) -> None:
        super()._refuse_others(path, found, largest)
        path.write_bytes(b" " * (LARGEST[path.name] + 1))


def test_a_file_that_grows_while_it_is_read_is_bounded(shop: Path) -> None:
    with opened(shop) as folder:
        growing = Growing(shop, folder.handle)
        with pytest.raises(BundleError, match="larger than"):
            growing.text("policy.md")


class Exchanged(BundleFolder):
    """A folder whose file becomes a link between a look at it and its opening."""

    def _refuse_others(self, path: Path, found: os.stat_result, largest: int) -> None:
        super()._refuse_others(path, found, largest)
        path.unlink(missing_ok=True)
        path.symlink_to("/etc/passwd")


def test_a_file_that_becomes_a_link_while_it_is_read_is_refused(shop: Path) -> None:
    with opened(shop) as folder, pytest.raises(BundleError, match="cannot be read"):
        Exchanged(shop, folder.handle).text("policy.md")


def test_what_is_written_into_a_bundle_replaces_nothing_but_a_file(shop: Path, tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text(SECRET)
    (shop / "proof.json").symlink_to(token)
    with pytest.raises(BundleError, match="it is a symbolic link"):
        write_text(shop / "proof.json", "{}")
    (shop / "proof.json").unlink()
    (shop / ".proof.json.part").symlink_to(token)
    write_text(shop / "proof.json", "{}")
    assert (token.read_text(), (shop / "proof.json").read_text()) == (SECRET, "{}")


def test_a_bundle_that_is_wrong_is_not_read_again_until_it_changes(shop: Path) -> None:
    library, seen = Library([shop.parent]), Library([shop.parent])
    (shop / "policy.md").write_bytes(b"\xff")
    for _ in range(2):
        with pytest.raises(BundleError, match="not UTF-8"):
            library.environment("shop")
    (shop / "policy.md").write_text("Again.")
    assert library.environment("shop").policy == seen.environment("shop").policy == "Again."


def test_a_bundle_that_keeps_changing_is_read_again_only_so_often(shop: Path) -> None:
    library, fresh = Library([shop.parent], reread_seconds=0), Library([shop.parent])
    before = [one.environment("shop").policy for one in (library, fresh)]
    (shop / "policy.md").write_text("Again.")
    assert [one.environment("shop").policy for one in (library, fresh)] == [before[0], "Again."]


def test_a_library_whose_bundles_all_keep_changing_is_read_again_only_so_often(
    shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("servers.bundle_library.REREAD_SHARE_OF_ALL", 0)
    other = Path(shutil.copytree(shop, shop.with_name("other")))
    with_description(other, id="other")
    library = Library([shop.parent], reread_seconds_of_all=1e-9)
    names = ("other", "shop")
    before = [library.environment(name).policy for name in names]
    for folder in (other, shop):
        (folder / "policy.md").write_text("Again.")
    assert [library.environment(name).policy for name in names] == ["Again.", before[1]]


async def test_an_idle_instances_bundle_is_read_by_another_thread(shop: Path, tmp_path: Path) -> None:
    class Noting(Library):
        readers: set[int] = set()

        def environment(self, environment_id: str) -> Environment:
            self.readers.add(threading.get_ident())
            return super().environment(environment_id)

    library = Noting([shop.parent])
    async with Worker(library, tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    async with Worker(Noting([shop.parent]), tmp_path / "state") as worker:
        library.readers.clear()
        assert (await worker.standing(ticket.instance)).environment == "shop"
        assert library.readers - {threading.get_ident()} == library.readers != set()


async def test_an_idle_instances_start_is_read_by_another_thread(shop: Path, tmp_path: Path) -> None:
    async with Worker(Library([shop.parent]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
    async with Worker(Library([shop.parent]), tmp_path / "state") as worker:
        start = next((tmp_path / "state" / "starts").iterdir()).stem
        opening = asyncio.ensure_future(worker.opened(ticket.instance))
        content = StateFile.origin_of(worker.folder / "instances" / f"{ticket.instance}{SUFFIX}").content
        assert (await worker.starts.load(start, content)).digest == start
        shutil.rmtree(tmp_path / "state" / "starts")  # what is held needs no file
        assert (await opening).start is worker.starts.load_here(start, content)


HEAVY: dict[str, tuple[str, Callable[[], str]]] = {
    "deep JSON": ("environment.json", lambda: "[" * (LARGEST_DESCRIPTION // 2) + "]" * (LARGEST_DESCRIPTION // 2)),
    "many keys": ("environment.json", lambda: "{" + ",".join(f'"{n}":0' for n in range(50_000)) + "}"),
    "a huge integer": ("environment.json", lambda: '{"id": ' + "9" * 500_000 + "}"),
    "many blank lines": ("scenarios.jsonl", lambda: "\n" * (LARGEST_SCENARIOS - 1)),
    "many lines": ("scenarios.jsonl", lambda: "{}\n" * (LARGEST_SCENARIOS // 3)),
    "a long line": ("scenarios.jsonl", lambda: '"' + "x" * (LARGEST_SCENARIOS - 2) + '"'),
    "deep lines": ("scenarios.jsonl", lambda: ("[" * 1000 + "\n") * 1000),
    "many checkpoints": (
        "scenarios.jsonl",
        lambda: json.dumps({**SOUND_SCENARIO, "checkpoints": [SOUND_SCENARIO["checkpoints"][0]] * 4000}),
    ),
    "rows of the wrong kind": (
        "scenarios.jsonl",
        lambda: '{"checkpoints": [{"kind": "sql", "expect": [' + ",".join(["[{}]"] * 200_000) + "]}]}",
    ),
    "many blank lines of schema": ("schema.sql", lambda: "\n" * 200_000),
}


@pytest.mark.parametrize("heavy", HEAVY)
def test_what_is_heavy_to_read_gives_a_bounded_number_of_findings(shop: Path, heavy: str) -> None:
    name, text = HEAVY[heavy]
    (shop / name).write_text(text())
    found, environment = read_environment(shop)
    if environment is not None and not found:
        try:
            load_scenarios(environment)
        except BundleError as error:
            found = [str(error)]
    assert len(found) <= 200
    assert bool(found) == (heavy != "many blank lines of schema")
    assert all(len(one) < 2000 for one in found)


async def test_a_long_finding_is_told_without_its_middle(shop: Path) -> None:
    (shop / "phrases.json").write_text(json.dumps({"asks": {"price": {"self": ["{nothing}" + "x" * 50_000]}}}))
    async with Guests() as guests:
        found = await findings(shop, guests)
    assert any("phrases.json" in one and " … " in one for one in found), found
    assert all(len(one) < 2_100 for one in found)


SCHEMAS: dict[str, tuple[dict[str, Any], str]] = {
    "chained definitions": (
        {"$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(40)}},
        ": '$defs' is not among the keywords",
    ),
    "a pattern": ({"properties": {"a": {"pattern": "(a+)+$"}}}, ".properties.a: 'pattern' is not among"),
    "too many choices": ({"properties": {"a": {"enum": list(range(501))}}}, ".properties.a: makes 502 checks"),
    "choices in choices": (
        {"properties": {"a": {"anyOf": [{"anyOf": [{"type": "null"}] * 30}] * 30}}},
        ".properties.a: makes 931 checks",
    ),
    "choices in the values of choices": (
        {"anyOf": [{"properties": {"a": {"anyOf": [{"type": "null"}] * 30}}}] * 30},
        ": its alternatives together make 930 checks",
    ),
    "a long name": ({"properties": {"n" * 129: {}}}, f".properties: {'n' * 40}…: a name has at most 128 characters"),
    "a long name that is required": ({"required": ["n" * 129]}, f".properties: {'n' * 40}…: a name has at most 128"),
    "another dialect": ({"$schema": "http://json-schema.org/draft-04/schema#"}, ".$schema: is not https://json-schema"),
    "no dialect": ({"items": {"$schema": 3}}, ".items.$schema: is not https://json-schema"),
    "values that are no scalars": ({"properties": {"a": {"enum": [{}]}}}, ".properties.a.enum: holds more than"),
    "no schema at all": ({"properties": {"a": 3}}, ".properties.a: not a JSON Schema"),
    "a great depth": (
        {"items": json.loads('{"items": ' * 40 + "true" + "}" * 40)},
        ".items" * 33 + ": nested deeper than 32",
    ),
}


@pytest.mark.parametrize("schema", SCHEMAS)
def test_a_schema_outside_of_the_subset_is_named_with_its_place(shop: Path, schema: str) -> None:
    description = json.loads((shop / "environment.json").read_text())
    part, finding = SCHEMAS[schema]
    for field in ("arguments", "result"):
        description["tools"][0][field] = {"type": "object", **part}
    (shop / "environment.json").write_text(json.dumps(description))
    found, _ = read_environment(shop)
    assert [one for one in found if f"tools.find.arguments{finding}" in one], found
    assert [one for one in found if f"tools.find.result{finding}" in one], found


@of_each_environment()
def test_the_farms_own_bundles_are_read(name: str) -> None:
    assert load_scenarios(load(OWN_LIBRARY / name))


async def test_arguments_that_would_take_too_many_checks_are_refused(shop: Path, tmp_path: Path) -> None:
    """A list of many values against a schema of many choices would keep everybody else waiting."""
    source = (shop / "tools.py").read_text()
    choices = ", ".join(f'"choice {number}"' for number in range(400))
    for old, new in (
        ('*, text: str = "")', f'*, text: str = "", among: list[Literal[{choices}]] | None = None)'),
        ("        text: A part of the name.\n", "        text: A part of the name.\n        among: Of these.\n"),
    ):
        source = source.replace(old, new)
    (shop / "tools.py").write_text(source)
    async with Guests() as guests:
        tools = await derived(shop, guests)
    with_description(shop, tools=[tool.model_dump() for tool in tools])
    async with Worker(Library([shop.parent]), tmp_path / "state") as worker:
        [ticket] = await worker.launch(Launch(environment="shop"))
        few, many = [
            await worker.find(ticket.instance).call("find", {"among": ["choice 399"] * count}) for count in (3, 20_000)
        ]
    assert (few.kind, many.kind) == ("ok", "invalid")
    assert (
        many.text
        == "find was not called: its arguments come to more than 1,000,000 checks of one call; give fewer at once"
    )


async def test_a_source_that_exhausts_the_parser_is_a_finding(shop: Path) -> None:
    sources = {"deep": "(" * 100_000, "deeper": "x = " + "-" * 500_000 + "1", "deep calls": "f(" * 90 + ")" * 90}
    async with Guests() as guests:
        for source in sources.values():
            [seen, after] = await inspected(
                [SourceText(source, "tools"), SourceText("def f(db): ...", "tools")], guests
            )
            assert seen.not_python or seen.problems
            assert (after.not_python, after.functions[0].name) == (None, "f")


async def test_scenarios_are_kept_in_no_more_memory_than_their_text(tmp_path: Path) -> None:
    """Parsed, these take a dozen times as much. A library keeps those of many bundles."""
    folder = await write_bundle(tmp_path / "shelf" / "shop")
    calls = [{"tool": "find"}] * 2000
    solution = {"calls": calls, "answer": "Done."}
    lines = [json.dumps({**SOUND_SCENARIO, "id": f"s{number}", "solution": solution}) for number in range(30)]
    (folder / "scenarios.jsonl").write_text("\n".join(lines))
    library = Library([folder.parent])
    library.environment("shop")
    size = (folder / "scenarios.jsonl").stat().st_size
    tracemalloc.start()
    try:
        scenarios = library.scenarios("shop")
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept < 1.2 * size
    assert most < 5 * size
    assert (len(scenarios), list(scenarios)[:2], "s29" in scenarios, "s30" in scenarios) == (
        30,
        ["s0", "s1"],
        True,
        False,
    )
    assert scenarios["s7"] == load_scenarios(library.environment("shop"))["s7"]
