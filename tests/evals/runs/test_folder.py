"""What a run's folder says when it is not what it should be."""

from pathlib import Path

import pytest

from evals.runs.folder import RunFolder
from evals.runs.records import RolloutRecord
from servers.errors import RequestError
from tests.disks import no_file_longer_than


def test_a_folder_that_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"not a run: it has no run.json; `farm eval"):
        RunFolder(tmp_path).header()


def test_a_folder_of_runs_names_them(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"run{number}").mkdir()
        (tmp_path / f"run{number}" / "run.json").touch()
    with pytest.raises(RequestError, match=r"it holds 7 runs: \S+/run0, \S+/run1, .*/run4, …$"):
        RunFolder(tmp_path).header()


def test_a_header_that_cannot_be_read_is_said(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"version": "1"}')
    with pytest.raises(RequestError, match=r"run.json: no head of an evaluation: began: is missing"):
        RunFolder(tmp_path).header()


def test_a_line_in_the_middle_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "rollouts.jsonl").write_text('{"attempt": 0}\n')
    with pytest.raises(
        RequestError, match=r"rollouts.jsonl: line 1: agent: is missing; delete this line, and `farm eval`"
    ):
        list(RunFolder(tmp_path).rollouts())


def test_a_run_without_its_scenarios_is_damaged(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"scenarios.jsonl: the file is missing, so the run is damaged"):
        RunFolder(tmp_path).subjects()


@pytest.mark.parametrize("torn", [1, 65_535, 65_536, 65_537, 200_000])
def test_what_stands_after_the_last_whole_line_is_cut_off(tmp_path: Path, torn: int) -> None:
    folder = RunFolder(tmp_path)
    file = tmp_path / "rollouts.jsonl"
    file.write_bytes(b"a line\n" + b"x" * torn)
    assert folder.mend() == torn
    assert file.read_bytes() == b"a line\n"
    assert folder.mend() == 0


def test_a_file_without_any_line_break_is_all_cut_off(tmp_path: Path) -> None:
    (tmp_path / "rollouts.jsonl").write_bytes(b"{")
    assert RunFolder(tmp_path).mend() == 1
    assert list(RunFolder(tmp_path).rollouts()) == []


def test_a_rollout_that_does_not_fit_on_the_disk_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with no_file_longer_than(1000), pytest.raises(OSError, match=r"rollouts\.jsonl"):
        RunFolder(tmp_path).append(RolloutRecord.model_construct(agent="x" * 2000))
    assert RunFolder(tmp_path).mend() == 1000
