"""What a suite may say, and that its mistakes are named."""

from pathlib import Path

import pytest

from evals.runs.suite import ChatAgent, CommandAgent, Suite, read_suite
from servers.errors import RequestError

SOUND = """
name = "nightly"
[scenarios]
environments = ["shop"]
sample = 3
[agent]
kind = "chat"
model = "qwen"
tools = "hermes"
[user]
model = "other"
[run]
attempts = 4
concurrency = 16
[limits]
turns = 20
"""


def read(folder: Path, text: str) -> Suite:
    path = folder / "suite.toml"
    path.write_text(text)
    return read_suite(path)


def test_a_suite_is_read_whole(tmp_path: Path) -> None:
    suite = read(tmp_path, SOUND)
    assert isinstance(suite.agent, ChatAgent)
    assert (suite.agent_name, suite.agent.tools, suite.run.attempts, suite.limits.turns) == ("qwen", "hermes", 4, 20)
    assert suite.user is not None


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "nightly"', "", "name: is missing"),
        ("sample = 3", "sampel = 3", "scenarios.sampel: no such key; there are: environments, ids,"),
        ('tools = "hermes"', 'tool = "hermes"', "agent.tool: no such key; there are: kind, model,"),
        ("attempts = 4", "attempts = 0", "run.attempts: must be at least 1"),
        ('kind = "chat"', 'kind = "robot"', "agent: 'kind' must be one of 'gold', 'idle',"),
        ("[limits]", "[limit]", "limit: no such key; there are: name, agent, scenarios,"),
        ("turns = 20", "turns = ", "not TOML: Invalid value"),
        (
            'model = "qwen"',
            'model = "qwen"\ntemperature = inf',
            "agent.temperature: Infinity is not a finite number of at most 64",
        ),
        ("turns = 20", "turns = 2026-01-01", "limits.turns: must be a whole number"),
    ],
)
def test_a_mistake_is_named(tmp_path: Path, old: str, new: str, said: str) -> None:
    with pytest.raises(RequestError) as found:
        read(tmp_path, SOUND.replace(old, new))
    assert f"{tmp_path / 'suite.toml'}: {said}" in str(found.value)


COMMAND = """
name = "mine"
agent = { command = "./agent.sh --fast", walls = true }
"""


def test_a_command_needs_no_kind(tmp_path: Path) -> None:
    suite = read(tmp_path, COMMAND)
    assert isinstance(suite.agent, CommandAgent)
    assert (suite.agent_name, suite.agent.command, suite.agent.read) == ("agent.sh", "./agent.sh --fast", (".",))
    words = read(tmp_path, COMMAND.replace('"./agent.sh --fast"', '["python", "agent.py"]'))
    assert isinstance(words.agent, CommandAgent)
    assert (words.agent_name, words.agent.command) == ("python", ("python", "agent.py"))
    assert words.agent_digest != suite.agent_digest


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("limits = {turns = 3}", "limits.turns: a command is bounded by limits.seconds alone"),
        ('user = {model = "m"}', "user: a command is told the task itself"),
        ('[agent]\ncommand = ""', "agent.command"),
        ('[agent]\ncommand = "x"\nmodel = "m"', "agent.model: no such key; there are: kind, command, name,"),
    ],
)
def test_what_a_command_cannot_have_is_named(tmp_path: Path, more: str, said: str) -> None:
    text = 'name = "mine"\n' + more if "[agent]" in more else COMMAND + more
    with pytest.raises(RequestError) as found:
        read(tmp_path, text)
    assert said in str(found.value)


def test_a_suite_that_is_not_there_is_said(tmp_path: Path) -> None:
    (tmp_path / "nine.toml").write_text("")
    with pytest.raises(RequestError, match=r"none.toml: cannot be read: No such file.*; did you mean 'nine.toml'"):
        read_suite(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("old", "new", "same_suite", "same_agent"),
    [
        ("concurrency = 16", "concurrency = 1", True, True),
        ('model = "qwen"', 'model = "qwen"\nbase_url = "http://elsewhere/v1"', True, True),
        ("sample = 3", "sample = 4", False, True),
        ("turns = 20", "turns = 21", False, False),
        ('model = "other"', 'model = "third"', False, False),
    ],
)
def test_digests_tell_what_results_depend_on(
    tmp_path: Path, old: str, new: str, same_suite: bool, same_agent: bool
) -> None:
    one, other = read(tmp_path, SOUND), read(tmp_path, SOUND.replace(old, new))
    assert (one.digest == other.digest, one.agent_digest == other.agent_digest) == (same_suite, same_agent)
