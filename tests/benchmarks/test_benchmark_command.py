"""`farm benchmark`: one command from an endpoint to the number."""

import json
from pathlib import Path

import pytest

from evals.report.official_number import part_numbers
from evals.runs.folder import RunFolder
from tests.benchmarks.test_acebench import STAND_IN as ACE
from tests.benchmarks.test_acebench import imported as acebench
from tests.benchmarks.test_tau_bench import RETAIL, stand_in
from tests.doubles import Endpoint, said
from tests.processes import farm


async def test_it_plays_and_prints_the_number_and_goes_on(tmp_path: Path) -> None:
    async with stand_in(tmp_path):
        pass
    once = [said("Hello there."), said("What can I do?"), said("###STOP###")]
    endpoint = Endpoint([said("ok"), said("ok"), *once, *once, *once, said("ok"), said("ok")])
    async with endpoint.serve() as url:
        told = ("benchmark", "tau-bench", "--model", "m", "--user-model", "u", "--base-url", url, "--only", RETAIL)
        where = ("--imported", tmp_path / "imported", "--out", tmp_path / "run", "--concurrency", "1", "--json")
        done = await farm(*told, *where, home=tmp_path)
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert (found["model"], found["user_model"], found["numbers"]) == ("m", "u", {"tau_bench": 0.0})
        [part] = found["parts"]
        assert (part["judged"], part["tasks"]) == (3, 3)
        assert part["source"].startswith("tau-bench (unknown, digest ")
        assert "; checker tau_bench/envs/base.py " in part["source"]
        again = await farm(*told, *where, home=tmp_path)
        assert json.loads(again.out)["parts"] == found["parts"]
    [number] = part_numbers(RunFolder(tmp_path / "run"))
    assert number.success is not None
    assert number.success.value == 0.0


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (("tau-bench",), "a model plays the user of tau-bench: name one with --user-model"),
        (
            ("bfcl-v4", "--only", "bfcl_v3_base"),
            "--only bfcl_v3_base: bfcl-v4 has no such environment; there are:",
        ),
        (("acebench", "--user-model", "u"), "is not imported; give your clone or data of acebench with --from"),
        (("acebench", "--user-model", "u", "--from", "nowhere"), "nowhere: is no folder"),
    ],
)
async def test_what_cannot_be_played_is_told_before(tmp_path: Path, arguments: tuple[str, ...], why: str) -> None:
    url = ("--base-url", "http://127.0.0.1:9/v1")
    where = ("--model", "m", "--out", tmp_path / "run", "--imported", tmp_path / "imported")
    done = await farm("benchmark", *arguments, *url, *where, home=tmp_path)
    assert (done.code, why in done.err) == (2, True), done.err
    assert not (tmp_path / "run" / "run.json").exists()


async def test_a_command_cannot_play_a_benchmark(tmp_path: Path) -> None:
    await acebench(ACE, tmp_path / "imported", "en", "multi_step")
    options = ("--library", tmp_path / "imported", "--environment", "acebench_en_multi_step")
    done = await farm("eval", "--agent", "true", *options, "--out", tmp_path / "run", home=tmp_path)
    assert (done.code, "a command plays by itself, so give the agent as a model" in done.err) == (2, True), done.err
