"""`farm new`: a whole environment of one's own, and nothing overwritten."""

import json
from pathlib import Path

import pytest

from servers.authoring.check import findings
from servers.authoring.new_bundle import TEMPLATE, new_bundle
from servers.bundle.environment import load
from servers.errors import RequestError
from servers.sandbox.guest_pool import Guests
from servers.scenario.scenario_file import load_scenarios
from tests.processes import farm


async def test_a_new_bundle_has_its_name_and_no_finding(tmp_path: Path) -> None:
    folder = new_bundle("chess_club", tmp_path)
    async with Guests() as guests:
        assert await findings(folder, guests) == []
    environment = load(folder)
    assert (environment.id, environment.description.title) == ("chess_club", "Chess club")
    assert (len(environment.tools), len(load_scenarios(environment))) == (4, 2)
    assert {path.name for path in folder.iterdir()} == {path.name for path in TEMPLATE.iterdir() if path.is_file()}


async def test_what_comes_next_is_told_and_works(tmp_path: Path) -> None:
    done = await farm("new", "chess_club", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    told = [line.split("  ")[1].removeprefix("farm ").split() for line in done.out.splitlines() if "  farm " in line]
    assert [command[0] for command in told] == ["check", "play"]
    for command in told:
        assert (await farm(*command, home=tmp_path)).code == 0


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("My-Games", "no name of an environment: .*, such as my_games$"),
        ("9", "no name of an environment: at most 64 lower case letters"),
        ("", "no name of an environment"),
        ("a" * 65, f"such as {'a' * 64}$"),
        ("café", "no name of an environment"),
        ("..", "no name of an environment"),
        ("clubs/chess", "is a path; go to the folder where the bundle shall lie"),
        ("library_loans", "is one of the farm's own environments; choose another name"),
    ],
)
def test_a_name_that_cannot_be_is_told_with_what_to_do(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(RequestError, match=told):
        new_bundle(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_nothing_that_is_there_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    for name in ("file", "folder", "link"):
        with pytest.raises(RequestError, match="is there already and is left as it is"):
            new_bundle(name, tmp_path)
    assert (tmp_path / "file").read_text() == "mine"
    assert list((tmp_path / "folder").iterdir()) == []
    with pytest.raises(RequestError, match=r"cannot be written: there is no folder .*nowhere"):
        new_bundle("chess_club", tmp_path / "nowhere")


def test_the_template_has_no_certificate_and_no_proof_of_another_name() -> None:
    assert not (TEMPLATE / "proof.json").exists()
    lines = (TEMPLATE / "scenarios.jsonl").read_text().splitlines()
    assert all("certificate" not in json.loads(line) for line in lines)
