"""`farm eval --agent` and `farm play --agent`: a program of one's own, from the command line to the report."""

import json
from pathlib import Path

from evals.runs.folder import RunFolder
from evals.runs.suite import read_suite
from tests.processes import farm

AGENT = """\
#!/bin/sh
# An agent of the farm, in a shell: it makes one call with curl, and says that it is done.
curl -s -H "Authorization: Bearer $FARM_MCP_TOKEN" -H "Content-Type: application/json" \\
  -H "Accept: application/json, text/event-stream" "$FARM_MCP_URL" \\
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call",
       "params": {"name": "price", "arguments": {"id": "t2", "cents": 250}}}' > "$FARM_FOLDER/result.json"
echo "Done."
"""


def agent_in(folder: Path) -> Path:
    path = folder / "agent.sh"
    path.write_text(AGENT)
    path.chmod(0o700)
    return path


async def test_a_shell_script_is_evaluated_without_a_suite(shelf: Path, tmp_path: Path) -> None:
    agent_in(tmp_path)
    options = ("--agent", "./agent.sh", "--library", shelf, "--environment", "shop", "--out", "run", "--json")
    done = await farm("eval", *options, home=tmp_path)
    assert done.code == 0, done.err
    [run] = json.loads(done.out)["runs"]
    assert (run["agent"], run["suite"]["name"]) == ("agent.sh", "agent.sh")
    [at] = RunFolder(tmp_path / "run").rollouts()
    rollout = at.played.rollout
    assert (rollout.outcome, rollout.reward, at.played.agent) == ("scored", 1.0, "agent.sh")
    again = await farm("judge", "run", "--with", shelf / "shop", home=tmp_path)
    assert "1 of 1 rollout judged again; 0 rewards changed" in again.out
    exported = await farm("export", "sft", "run", "--out", "data", home=tmp_path)
    assert exported.code == 0, exported.err
    example = json.loads((tmp_path / "data" / "train.jsonl").read_text())
    assert [message["role"] for message in example["messages"]] == ["system", "user", "assistant", "tool", "assistant"]


async def test_the_agent_of_the_command_line_takes_the_place_of_a_suites(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('name = "mine"\nscenarios = {environments = ["shop"]}\nrun = {attempts = 2}\n')
    options = ("--agent", "echo $FARM_ENVIRONMENT", "--library", shelf, "--out", "run")
    done = await farm("eval", "suite.toml", *options, home=tmp_path)
    assert done.code == 0, done.err
    folder = RunFolder(tmp_path / "run")
    assert folder.header().suite.name == "mine"
    traces = [at.played.rollout.trace for at in folder.rollouts()]
    assert [trace and trace.answer for trace in traces] == ["shop", "shop"]


async def test_a_program_is_played_and_shown(shelf: Path, tmp_path: Path) -> None:
    agent_in(tmp_path)
    done = await farm("play", shelf / "shop", "--scenario", "dearer", "--agent", "./agent.sh", home=tmp_path)
    assert done.code == 0, done.err
    assert "→ price(id=" in done.out
    assert "reward 1.00" in done.out


async def test_an_agent_may_be_asked_for_json(shelf: Path, tmp_path: Path) -> None:
    options = ("--library", shelf, "--out", "run", "--answers", "json")
    (tmp_path / "suite.toml").write_text(
        'name = "mine"\nagent = {command = "cat $FARM_TASK_FILE"}\nscenarios = {environments = ["shop"]}\n'
    )
    done = await farm("eval", "suite.toml", *options, home=tmp_path)
    assert done.code == 0, done.err
    folder = RunFolder(tmp_path / "run")
    assert folder.header().suite.answers == "json"
    [at] = folder.rollouts()
    trace = at.played.rollout.trace
    assert trace
    assert "one JSON object and nothing else" in trace.answer
    assert '- "message"' in trace.answer
    wrong = await farm("eval", "suite.toml", "--out", "other", "--answers", "yaml", home=tmp_path)
    assert wrong.code == 2
    assert "--answers" in wrong.err
    played = await farm("play", shelf / "shop", "--scenario", "dearer", "--gold", "--answers", "json", home=tmp_path)
    assert played.code == 0, played.err
    assert "one JSON object" in played.out


async def test_prose_is_no_part_of_a_suites_digest(tmp_path: Path) -> None:
    (tmp_path / "suite.toml").write_text('name = "mine"\nagent = {kind = "gold"}\n')
    plain, json_ = read_suite(tmp_path / "suite.toml"), read_suite(tmp_path / "suite.toml", answers="json")
    same = read_suite(tmp_path / "suite.toml", answers="text")
    assert plain.digest == same.digest != json_.digest
    assert plain.agent_digest == same.agent_digest != json_.agent_digest
