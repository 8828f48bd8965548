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


async def test_an_agent_that_cannot_start_ends_the_run_with_the_reason(shelf: Path, tmp_path: Path) -> None:
    options = ("--library", shelf, "--environment", "shop", "--out", "run")
    (tmp_path / "agent.py").write_text("print('Done.')\n")
    for command, said in (
        ("no-such-agent", "'no-such-agent' is not found"),
        ("./agent.py", "'./agent.py' is not found; is it on PATH, and may it be executed?"),
    ):
        done = await farm("eval", "--agent", command, *options, home=tmp_path)
        assert (done.code, done.out) == (2, ""), command
        assert said in done.err
    done = await farm("eval", "--agent", "cd / && no-such-agent", *options, home=tmp_path)
    assert done.code == 1
    assert "nothing was judged: the agent's program cannot be started (exit code 127)" in done.err
    done = await farm("eval", "--agent", "echo No model. >&2; exit 3", *options[:-1], "other", home=tmp_path)
    assert done.code == 0
    assert "The last one: the agent's program ended with exit code 3: No model." in " ".join(done.out.split())


async def test_what_is_asked_wrongly_is_told_before_a_farm_is_started(shelf: Path, tmp_path: Path) -> None:
    (tmp_path / "gold.toml").write_text(
        'name = "gold"\nagent = {kind = "gold"}\n[scenarios]\nenvironments = ["shop"]\n'
    )
    (tmp_path / "me.toml").write_text('name = "me"\nagent = {kind = "human"}\n')
    (tmp_path / "chat.toml").write_text('name = "chat"\nagent = {kind = "chat", model = "m"}\n')
    shop = ("--agent", "true", "--library", shelf)
    done = await farm("eval", "gold.toml", "--library", shelf, "--out", "run", home=tmp_path)
    assert (done.code, done.err) == (0, "")
    wrong: dict[tuple[str | Path, ...], tuple[int, str]] = {
        (*shop, "--environment", "shp"): (2, "no environment 'shp' on this farm; did you mean 'shop'?"),
        (*shop, "--environment", "shop", "--scenario", "derer"): (
            2,
            "no scenario 'derer' among 1; did you mean",
        ),
        (*shop, "--scenario", "shop/derer"): (2, "no scenario 'shop/derer' among"),
        (*shop, "--environment", "shop"): (2, "run: holds a run of another suite; choose another folder"),
        ("chat.toml", "--base-url", "http://127.0.0.1:9/v1"): (1, "nothing was played"),
        ("me.toml",): (2, "`farm play BUNDLE --scenario ID --me`"),
    }
    for arguments, (code, said) in wrong.items():
        out = "run" if "shop" in arguments else "new"
        done = await farm("eval", *arguments, "--out", out, home=tmp_path)
        assert (done.code, done.out) == (code, ""), arguments
        assert said in done.err, arguments


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
