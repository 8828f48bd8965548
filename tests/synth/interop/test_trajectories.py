"""EnvScaler's recorded trajectories become a run: played again, judged, judged once more, and exported."""

import json
from pathlib import Path
from typing import Any

import pytest

from evals.runs.folder import RunFolder
from servers.errors import RequestError
from synth.interop.trajectories.recorded_runs import RecordedRun, runs_in
from synth.interop.trajectories.replay import replayed
from tests.processes import Done, farm
from tests.synth.interop.arriving import imported
from tests.synth.interop.entries import scenario

TASK = str(scenario()["task"])


def call(name: str, arguments: Any, number: str = "call_1") -> dict[str, Any]:
    told = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": number, "type": "function", "function": {"name": name, "arguments": told}}


def trajectory(*messages: dict[str, Any], task: str = TASK, **fields: Any) -> dict[str, Any]:
    head = [{"role": "system", "content": "You are helpful."}, {"role": "user", "content": task}]
    info = {"env_id": "env_1", "task_id": "env_1-task_1", "task": task}
    return {"task_info": info, "messages": [*head, *messages], **fields}


def says(text: str = "", *calls: dict[str, Any], thinking: str = "") -> dict[str, Any]:
    return {"role": "assistant", "content": text, "reasoning_content": thinking, "tool_calls": list(calls)}


def heard(text: str, number: str = "call_1") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": number, "name": "x", "content": text}


BOTH = says(
    "I begin.",
    call("lend", {"tool_id": "t1", "person": "Ada"}),
    call("add_tool", {"name": "ladder"}, "call_2"),
    thinking="Two calls at once.",
)
WHOLE = trajectory(BOTH, heard("{'success': True}"), heard("{'success': True}", "call_2"), says("Done."))
HALF = trajectory(says("", call("lend", {"tool_id": "t1", "person": "Ada"})), heard("{'success': True}"))
TALK = trajectory(
    says("Which person?"),
    {"role": "user", "content": "Ada, please."},
    says("", call("lend", {"tool_id": "t1", "person": "Ada"})),
    heard("{'success': True}"),
    says("It is lent."),
    {"role": "user", "content": "###STOP###"},
)
PUBLISHED = {
    "traj_type": "non_conversation",
    "task_info": WHOLE["task_info"],
    "tools": "[]",
    "messages": json.dumps(WHOLE["messages"]),
    "user_messages": "null",
    "steps": 2,
}
OTHER = trajectory(says("Done."), task="Something else.")
IN_TEXT = trajectory(says('<tool_call>{"name": "lend"}</tool_call>'))
TAU: dict[str, Any] = {"task_info": {"user_id": "u1", "instruction": "x"}, "messages": []}


async def recorded(folder: Path, *trajectories: Any) -> tuple[Done, Path]:
    await imported(folder)
    (folder / "theirs.json").write_text(json.dumps(trajectories))
    to = folder / "run"
    done = await farm(
        "import", "trajectories", folder / "theirs.json", "--library", folder / "out", "--out", to, home=folder
    )
    assert "Traceback" not in done.err, done.err
    return done, to


async def test_trajectories_are_played_again_judged_and_exported(tmp_path: Path) -> None:
    done, to = await recorded(tmp_path, WHOLE, HALF, TALK, PUBLISHED, OTHER, IN_TEXT, TAU, 5)
    assert done.code == 1  # four were left out
    assert done.out.splitlines()[-1] == f"4 rollouts in {to}: reward 0.75 on average, 2 with all; 4 left out"
    assert "entry 4: env_1 has no scenario with its task, so nothing can judge it" in done.err
    assert "entry 5: messages: its calls stand in its texts; only those of function calling are read" in done.err
    assert "entry 6: task_info.env_id: is missing; only runs in EnvScaler's own environments are read" in done.err
    assert "entry 7: the whole: is not an object" in done.err
    runs = {at.played.attempt: at.played.rollout for at in RunFolder(to).rollouts()}
    whole, half, talk, published = (runs[number] for number in range(4))
    assert (whole.reward, half.reward, talk.reward, published.reward) == (1.0, 0.5, 0.5, 1.0)
    assert [run.outcome for run in runs.values()].count("agent_error") == 1
    assert half.outcome == "agent_error"
    assert whole.trace is not None
    assert (whole.trace.turns[0].text, whole.trace.turns[0].thinking) == ("I begin.", "Two calls at once.")
    assert [one.tool for one in whole.trace.turns[0].calls] == ["lend", "add_tool"]
    assert whole.trace.answer == "Done."
    assert talk.trace is not None
    assert [turn.user for turn in talk.trace.turns] == ["Ada, please.", "", ""]
    done = await farm("export", "sft", to, "--out", tmp_path / "sft", "--duplicates", home=tmp_path)
    assert done.code == 0, done.err
    [first, _] = map(json.loads, (tmp_path / "sft" / "train.jsonl").read_text().splitlines())
    assert first["messages"][2]["tool_calls"][0]["function"]["name"] == "lend"
    done = await farm("judge", to, "--with", tmp_path / "out" / "env_1", home=tmp_path)
    assert "4 of 4 rollouts judged again; 0 rewards changed." in done.out


async def test_without_a_run_that_can_be_judged_nothing_is_written(tmp_path: Path) -> None:
    await imported(tmp_path)
    (tmp_path / "theirs.json").write_text(json.dumps([OTHER]))
    runs = [one for one in runs_in(tmp_path / "theirs.json") if isinstance(one, RecordedRun)]
    with pytest.raises(RequestError, match=r"none of these runs has a scenario in .*so nothing can judge it"):
        await replayed(runs, tmp_path / "out", RunFolder(tmp_path / "run"), lambda: None)
    assert not (tmp_path / "run").exists()
