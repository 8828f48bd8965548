"""EnvScaler's files are read in every shape that they come in; what cannot be read is left out and named."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.errors import BundleError, NotFound, RequestError
from synth.interop.imports.check_values import hints_of
from synth.interop.imports.dataset import read
from synth.interop.imports.source import class_source
from tests.synth.interop.entries import environment, scenario, write


@pytest.mark.parametrize(
    "entries",
    [{"env_1": environment()}, [environment()], {"env_1": environment(env_id=None)}],
    ids=["dict", "list", "key"],
)
def test_environments_come_as_a_dict_or_a_list(tmp_path: Path, entries: Any) -> None:
    files = read(*write(tmp_path, entries, [scenario()]))
    assert list(files.environments) == ["env_1"]
    assert files.environments["env_1"].kinds["lend"] == "state_change"
    assert files.left_out == []


def test_nested_fields_may_be_json_in_a_text(tmp_path: Path) -> None:
    inside = ("init_config", "checklist_with_func")
    told = {name: json.dumps(value) if name in inside else value for name, value in scenario().items()}
    entry = {**environment(), "operation_list": json.dumps(environment()["operation_list"])}
    files = read(*write(tmp_path, [json.dumps(entry)], [told]))
    assert files.left_out == []
    assert files.scenarios[0].config["tools"]["t1"]["name"] == "saw"
    assert len(files.scenarios[0].checks) == 2


def test_missing_and_empty_checks_are_told_apart(tmp_path: Path) -> None:
    without = {name: value for name, value in scenario().items() if name != "checklist_with_func"}
    files = read(*write(tmp_path, [environment()], [without, scenario("def check_func(s):\n    return True", "")]))
    assert [(len(one.checks), one.empty_checks) for one in files.scenarios] == [(0, 0), (1, 1)]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (7, "the whole: is not an object"),
        (environment(env_class_code=""), "env_class_code: is missing or empty"),
        (environment(tools="[{"), "tools: is text that is not JSON"),
        (environment(constraints_rules={"a": 1}), "constraints_rules: is not a list"),
    ],
)
def test_an_environment_that_cannot_be_read_is_left_out_and_named(tmp_path: Path, entry: Any, words: str) -> None:
    files = read(*write(tmp_path, [entry], []))
    assert files.environments == {}
    [reason] = files.left_out
    assert "env_metadata.json: entry 0: " in reason
    assert words in reason


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (scenario(env_id="env_9"), "there is no environment 'env_9'"),
        (scenario(init_config=[1]), "init_config: is not an object"),
        (scenario(task=""), "task: is missing or empty"),
        (scenario(checklist_with_func=["x"]), "checklist_with_func: an item is not an object"),
    ],
)
def test_a_scenario_that_cannot_be_read_is_left_out_and_named(tmp_path: Path, entry: Any, words: str) -> None:
    files = read(*write(tmp_path, [environment()], [entry, scenario()]))
    assert len(files.scenarios) == 1
    [reason] = files.left_out
    assert words in reason


def test_two_environments_of_one_id_are_not_mixed(tmp_path: Path) -> None:
    files = read(*write(tmp_path, [environment(), environment(environment_summary="Other")], []))
    assert files.environments["env_1"].title == "Tool shed"
    assert "is used by an earlier entry too" in files.left_out[0]


@pytest.mark.parametrize("text", ["", "{", "7", '{"py/object": "x"}', "[" * 100_000])
def test_a_file_that_holds_no_entries_is_refused_as_a_whole(tmp_path: Path, text: str) -> None:
    with pytest.raises(BundleError, match=r"env_metadata\.json: "):
        read(*write(tmp_path, text, []))


def test_a_file_that_is_too_large_is_refused_unread(tmp_path: Path) -> None:
    there, _ = write(tmp_path, [environment()], [])
    with there.open("wb") as file:
        file.truncate(512 * 1024 * 1024 + 1)
    with pytest.raises(RequestError, match=r"larger than 512 MiB$"):
        read(there, tmp_path / "neither.json")


def test_a_class_that_is_a_parent_in_many_ways_is_read_once() -> None:
    levels = [f"class C{level}({', '.join([f'C{level - 1}'] * 9)}):\n    pass\n" for level in range(1, 10)]
    source = class_source("class C0:\n    def call(self):\n        pass\n" + "".join(levels), "C9")
    assert [one.name for one in source.methods] == ["call"]


def test_constants_of_a_check_are_compared_up_to_a_bound() -> None:
    hints = hints_of("A = [" + ", ".join(map(str, range(60_000))) + "]")
    assert len(hints["loose"]) == 40


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"nowhere\.json: there is no such file"):
        read(tmp_path / "nowhere.json", tmp_path / "neither.json")
