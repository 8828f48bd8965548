"""The three commands as a person runs them."""

import json
from pathlib import Path

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario_file import load_scenarios
from synth.interop.imports.told_arrivals import MOST_TOLD
from tests.processes import Done, farm
from tests.synth.interop.entries import LENT, THERE, WRONG, environment, scenario, write


async def run(*arguments: str | Path, home: Path) -> Done:
    done = await farm(*arguments, home=home)
    assert "Traceback" not in done.err, done.err
    return done


async def test_files_come_in_are_checked_audited_and_listed(tmp_path: Path) -> None:
    paths = write(tmp_path / "files", [environment()], [scenario()])
    (tmp_path / "files" / "LICENSE").write_text("MIT License\n\nCopyright (c) 2026 Somebody\n")
    out = tmp_path / "out"
    done = await run("import", "envscaler", *paths, "--out", out, home=tmp_path)
    assert (done.code, done.out.splitlines()[-1]) == (0, "1 environment, 1 scenario; 0 left out")
    assert "1/1 env_1: 7 tools, 1 scenario" in done.err
    provenance = json.loads((out / "env_1" / "environment.json").read_text())["provenance"]
    assert provenance["licence"] == "MIT License, Copyright (c) 2026 Somebody"
    assert (await run("check", out / "env_1", home=tmp_path)).out == "env_1: sound (7 tools, 1 scenario)\n"
    assert "none shown" in (await run("scenarios", out / "env_1", home=tmp_path)).out
    done = await run("audit", out, "--json", tmp_path / "audit.json", home=tmp_path)
    assert done.code == 0
    assert "scenarios that reward doing nothing: 0 of 1 (0%)" in done.out
    [told] = json.loads((tmp_path / "audit.json").read_text())
    assert told["scenarios"][0]["reward_found"] == 1.0


async def test_a_stopped_audit_goes_on_and_a_changed_scenario_is_audited_anew(tmp_path: Path) -> None:
    paths = write(tmp_path / "files", [environment()], [scenario(), scenario(task_id="task_2")])
    out, kept = tmp_path / "out", tmp_path / "kept"
    await run("import", "envscaler", *paths, "--out", out, home=tmp_path)
    first = await run("audit", out, "--out", kept, home=tmp_path)
    assert first.code == 0
    lines = (kept / "audited.jsonl").read_text().splitlines(keepends=True)
    (kept / "audited.jsonl").write_text("".join(lines[:2]) + lines[2][:40])  # killed in the middle of a line
    again = await run("audit", out, "--out", kept, "--jobs", "1", home=tmp_path)
    assert "2 of 3 parts were audited before." in again.err
    assert again.out == first.out
    scenarios = out / "env_1" / "scenarios.jsonl"
    scenarios.write_text(scenarios.read_text().replace("Lend", "Please lend"))
    assert "audited before" not in (await run("audit", out, "--out", kept, home=tmp_path)).err


async def test_a_scenario_that_cannot_be_audited_is_named_and_the_exit_code_says_so(tmp_path: Path) -> None:
    ends = "def check_func(final_state):\n    raise SystemExit(3)\n"
    paths = write(tmp_path / "files", [environment()], [scenario(ends)])
    await run("import", "envscaler", *paths, "--out", tmp_path / "out", home=tmp_path)
    done = await run("audit", tmp_path / "out", home=tmp_path)
    assert done.code == 1
    assert "environments that load and pass `farm check`: 1 of 1" in done.out
    assert "SystemExit" in next(line for line in done.out.splitlines() if line.startswith("env_1: task_1: "))


async def test_a_witness_is_written_beside_a_scenario(tmp_path: Path) -> None:
    paths = write(tmp_path / "files", [environment()], [scenario()])
    out = tmp_path / "out"
    await run("import", "envscaler", *paths, "--out", out, home=tmp_path)
    done = await run("audit", out, "--solutions", home=tmp_path)
    assert "--solutions is called --witnesses now" in done.err
    assert "env_1: task_1: has a witness now" in done.out
    [written] = load_scenarios(load(out / "env_1")).values()
    assert written.witness is not None
    assert written.solution is None
    done = await run("export", "sft", "--reference", out, "--out", tmp_path / "sft", home=tmp_path)
    assert (done.code, (tmp_path / "sft" / "train.jsonl").read_text()) == (1, "")


async def test_a_cleaned_import_pays_nothing_for_nothing_and_has_a_footprint(tmp_path: Path) -> None:
    idle = scenario(THERE, LENT, task_id="idle")
    raising = scenario(WRONG, LENT, task_id="raising")
    nothing = scenario(THERE, task_id="nothing")
    paths = write(tmp_path / "files", [environment()], [idle, raising, nothing])
    out = tmp_path / "out"
    done = await run("import", "envscaler", *paths, "--out", out, "--clean", "--strict-episodes", home=tmp_path)
    assert "scenario idle: 1 check that held at the start: guards now; nothing else may change than 1 row" in done.out
    assert "scenario raising: 1 check that raised at the start and never held: dropped" in done.out
    assert "scenario nothing: 1 check that held at the start: guards now; left out: no goal is left" in done.out
    scenarios = load_scenarios(load(out / "env_1"))
    assert [*scenarios] == ["idle", "raising"]
    assert [one.role for one in scenarios["idle"].checkpoints] == ["guard", "goal", "guard", "guard"]
    told = await run("audit", out, "--json", tmp_path / "audit.json", home=tmp_path)
    assert told.code == 0
    [found] = json.loads((tmp_path / "audit.json").read_text())
    assert found["findings"] == []
    assert [one["problem"] for one in found["scenarios"]] == [None, None]
    assert [one["reward_for_nothing"] for one in found["scenarios"]] == [0.0, 0.0]
    assert (await run("import", "envscaler", *paths, "--out", out, home=tmp_path)).code == 0  # what it wrote is its own


async def test_what_is_left_out_is_told_and_the_exit_code_says_so(tmp_path: Path) -> None:
    paths = write(tmp_path, [environment(env_class_code="class")], [scenario(env_id="env_2")])
    done = await run("import", "envscaler", *paths, "--out", tmp_path / "out", home=tmp_path)
    assert done.code == 1
    assert "env_1: left out: env_class_code: line 1: not Python" in done.out
    assert "there is no environment 'env_2'" in done.out
    assert done.out.endswith("0 environments, 0 scenarios; 2 left out\n")


async def test_a_file_of_many_bad_entries_gives_a_bounded_number_of_lines(tmp_path: Path) -> None:
    paths = write(tmp_path, [None] * 3 * MOST_TOLD, [])
    done = await run("import", "envscaler", *paths, "--out", tmp_path / "out", home=tmp_path)
    assert done.code == 1
    assert done.out.splitlines()[MOST_TOLD:] == ["… and 2,000 more", "0 environments, 0 scenarios; 3000 left out"]


async def test_an_imported_scenario_has_no_reference_to_play(tmp_path: Path) -> None:
    paths = write(tmp_path / "files", [environment()], [scenario()])
    await run("import", "envscaler", *paths, "--out", tmp_path / "out", home=tmp_path)
    bundle = tmp_path / "out" / "env_1"
    done = await run("play", bundle, "--scenario", "task_1", "--gold", home=tmp_path)
    assert done.code == 2
    assert "scenario 'task_1' has no reference solution" in done.err


async def test_misuse_is_told_in_a_line(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.json"
    done = await run("import", "envscaler", nowhere, nowhere, "--out", tmp_path / "out", home=tmp_path)
    assert (done.code, done.err) == (2, f"farm: {nowhere}: there is no such file\n")
    done = await run("audit", tmp_path, home=tmp_path)
    assert (done.code, done.err.count("\n")) == (2, 1)
    done = await run("export", "envscaler", "no_such_bundle", "--out", tmp_path / "out", home=tmp_path)
    assert done.code == 2


async def test_an_own_environment_is_exported(tmp_path: Path) -> None:
    done = await run("export", "envscaler", "library_loans", "--out", tmp_path / "out", home=tmp_path)
    assert done.code == 0
    written = len(json.loads((tmp_path / "out" / "rl_scenario_metadata.json").read_text()))
    assert f"19 tools, {written} scenarios, " in done.out.splitlines()[-1]
    assert 7 <= written < len(load_scenarios(load(OWN_LIBRARY / "library_loans")))


async def test_a_clock_is_checked_before_anything_is_read(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere.json"
    arguments = ("import", "envscaler", nowhere, nowhere, "--out", tmp_path / "out", "--clock", "2025-02-30 09:00:00")
    done = await run(*arguments, home=tmp_path)
    told = "farm: --clock 2025-02-30 09:00:00: is no time; write it as 2025-07-01 09:00:00\n"
    assert (done.code, done.err) == (2, told)
    assert not (tmp_path / "out").exists()
