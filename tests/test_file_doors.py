"""Who opens files: through doors that wait for no pipe and read up to a bound. Those of bundles follow no link either.

Whatever else opens a file is named here with what it opens. A new name in this list is a decision: is the file really
none that somebody else put there?
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
DOORS = {
    "servers/bundle/files.py": "files of bundles, and the rest of what others hand in",
    "servers/files/atomic_write.py": "files that are written whole",
    "servers/files/named_file.py": "files that a user names",
    "servers/files/private_files.py": "files of the state folder",
    "servers/files/scratch_folder.py": "the farm's own temporary folders, to lock them",
}
OTHERS = {
    "agent_client/models/call_text.py": "the farm's own prompts",
    "agent_client/models/simulated_person.py": "the farm's own prompt",
    "evals/export/command.py": "a new file of its own run's folder",
    "evals/frameworks/nemo_gym/app.py": "the farm's token, where this project is not installed",
    "evals/frameworks/nemo_gym/project.py": "the farm's own server for NeMo Gym",
    "evals/programs/agent_walls.py": "a handle of a folder, to allow it",
    "evals/programs/supervisor.py": "a descriptor, /dev/null and /proc",
    "evals/report/page.py": "the farm's own page",
    "rl_training/cpu/tiny_model.py": "the farm's own chat template",
    "rl_training/data/pass_rates.py": "a file that the trainer's own processes write",
    "rl_training/demo/demo.py": "what its own trainer wrote",
    "rl_training/evolve/step_process.py": "the log of its own process",
    "rl_training/verl/trainer.py": "the log of its own process",
    "synth/certify/paraphrases.py": "the farm's own texts",
    "synth/dataset_process.py": "a new file in a folder of its caller's",
    "synth/interop/exports/texts.py": "the farm's own texts",
    "synth/llm/exchange.py": "a recording to add to, which was read before",
    "synth/runner/vllm.py": "the log of its own process",
    "servers/worker/capacity.py": "the kernel's own file about memory",
    "synth/processes/kept_results.py": "results to add to, which were read before",
    "servers/authoring/new_bundle.py": "the farm's own template",
    "servers/cli/secret_options.py": "a pipe with a token, which the shell has opened",
    "servers/guest/zygote.py": "/dev/null",
    "servers/limits/memory.py": "/proc",
    "servers/limits/process_clock.py": "/proc",
    "servers/state/state_index.py": "the index of the state folder",
    "servers/text/terminal.py": "/dev/null",
    "registry/ledger/database.py": "the ledger",
    "registry/web/assets.py": "the farm's own pages",
}
ROOMS = ("servers", "agent_client", "registry", "evals", "synth", "rl_training")
READING = {"read_text", "read_bytes"}


def opening_calls(source: str) -> Iterator[ast.Call]:
    """The calls that open a file, by their names: `open(…)`, `os.open(…)`, `io.open(…)`, `path.read_text()`."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(func=ast.Name(id="open")):
                yield node
            case ast.Call(func=ast.Attribute(attr="open", value=ast.Name(id="os" | "io" | "gzip"))):
                yield node
            case ast.Call(func=ast.Attribute(attr="open"), args=[ast.Constant(value=str()), *_]):
                yield node  # a path with a mode
            case ast.Call(func=ast.Attribute(attr=name)) if name in READING:
                yield node
            case _:
                pass


def modules() -> list[str]:
    found = (path for room in ROOMS for path in (ROOT / room).rglob("*.py"))
    return sorted(str(path.relative_to(ROOT)) for path in found if "servers/library/" not in path.as_posix())


@pytest.mark.parametrize(
    "text", ["open(p)", "os.open(p, 0)", "p.open('rb')", "p.read_text()", "Path(p).read_bytes()", "gzip.open(p)"]
)
def test_every_way_to_open_a_file_is_seen(text: str) -> None:
    assert len(list(opening_calls(text))) == 1


@pytest.mark.parametrize("text", ["await guest.open(end)", "StateFile.open(path, index)", "webbrowser(p)"])
def test_what_opens_something_else_is_not_meant(text: str) -> None:
    assert not list(opening_calls(f"async def f(): {text}"))


def test_no_other_module_opens_files() -> None:
    found = {name for name in modules() if list(opening_calls((ROOT / name).read_text(encoding="utf-8")))}
    assert found == DOORS.keys() | OTHERS.keys()
