"""`vllm serve` as a child of a run: started, waited for, stopped. A program with the same routes stands in for it."""

import os
import signal
import sys
from pathlib import Path

import pytest

from tests.processes import processes, until, watching_for_orphans
from tests.synth.pipeline.tiny_process import ROOT, started

SERVES = "from tests.synth.runner.standin_vllm import main\nmain()\n"
FAILS = "print('no CUDA here')\nsys.exit(3)\n"
NEVER = "import signal\nsignal.pause()\n"


def standing_in(home: Path, text: str) -> str:
    """A PATH on which such a `vllm` stands first."""
    program = home / "bin" / "vllm"
    program.parent.mkdir()
    program.write_text(f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT)!r})\n{text}")
    program.chmod(0o755)
    return f"{program.parent}:{os.defpath}"


async def test_a_model_is_served_as_long_as_the_run_lasts(tmp_path: Path) -> None:
    path = standing_in(tmp_path, SERVES)
    with watching_for_orphans() as orphans:
        run = await started(tmp_path, path=path, topics=["Loans"], serve_vllm="a/model", model="")
        done = await run.ended()
        assert (done.code, "1 accepted" in done.out) == (0, True), done.err
        assert "GET /health" in (tmp_path / "run/vllm.log").read_text()
        assert orphans() == []


async def test_a_server_that_ends_says_why(tmp_path: Path) -> None:
    path = standing_in(tmp_path, FAILS)
    done = await (await started(tmp_path, path=path, topics=["Loans"], serve_vllm="a/model")).ended()
    assert done.code == 1
    assert "ServingError: vllm ended with exit code 3" in done.err
    assert "no CUDA here" in done.err


async def test_where_there_is_no_vllm_it_says_what_to_do(tmp_path: Path) -> None:
    done = await (await started(tmp_path, topics=["Loans"], serve_vllm="a/model")).ended()
    assert done.code == 1
    assert "no `vllm` on the PATH" in done.err
    assert "envfarm[rl-gpu]" in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
async def test_a_server_does_not_outlive_its_run(number: signal.Signals, tmp_path: Path) -> None:
    path = standing_in(tmp_path, NEVER)
    with watching_for_orphans() as orphans:
        run = await started(tmp_path, path=path, topics=["Loans"], serve_vllm="a/model")
        await until(lambda: any(is_serving(one.command) for one in processes().values()), "vllm was started")
        run.send(number)
        await run.ended()
        await until(lambda: orphans() == [], "vllm has ended")


def is_serving(command: str) -> bool:
    return "bin/vllm serve a/model" in command and "servers.limits.parent_death" not in command
