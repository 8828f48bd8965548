"""The pages tell the truth: what they show runs, and what there is stands in them."""

import asyncio
import json
import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast, get_args

import pytest
from pydantic import BaseModel

import agent_client.errors
import farm
import servers.errors
from agent_client.trace import End
from evals.rollout import Outcome, Rollout
from registry.http.app import control_app
from registry.leases import Registry
from registry.ledger.store import Ledger
from registry.messages import ErrorKind
from registry.workers.fleet import Fleet
from servers.bundle.description import (
    BenchmarkOrigin,
    Description,
    ImportedOrigin,
    Provenance,
    Tool,
)
from servers.bundle.examples import BundleExample
from servers.bundle.rules import BundleRule
from servers.bundle_library import Library
from servers.messages import OutcomeKind
from servers.scenario.checkpoints.footprint import Allowance, FootprintCheckpoint
from servers.scenario.checkpoints.official import OfficialCheckpoint
from servers.scenario.checkpoints.python import PythonCheckpoint
from servers.scenario.checkpoints.sql import Comparison, SqlCheckpoint
from servers.scenario.scenario import PlannedCall, Scenario, Solution
from tests.library import SAMPLE
from tests.processes import LONG, farm_up, write_forked_programs
from tests.test_floors import FLOORS

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[^\n]*?) -->\n)?```(?P<language>\w+)\n(?P<text>.*?)^```$"
    r"(?:\n```json\n(?P<answer>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
OUR_COMMAND = re.compile(r"(?:.*/)?farm")
APPEND = "append to "
LONG_PAGES = {"write-by-hand.md", "first-environment.md"}
BUNDLE_PAGES = ("bundles.md", "scenario-file.md")
"""Pages whose commands write, certify and prove: up to a minute of a processor."""
BETWEEN_COMMANDS = {"&&", "||", "|", ";", "&", "(", ")", "\n"}
CHANGES_EACH_TIME = {
    "instance", "token", "mcp_url", "url", "at", "created_at", "expires_at", "registered_at", "seen_at", "micros",
    "instances", "orphans", "version", "walls",
}  # fmt: skip
BUNDLE_KEYS: tuple[type[BaseModel], ...] = (
    Description,
    Tool,
    Provenance,
    ImportedOrigin,
    BenchmarkOrigin,
    Scenario,
    SqlCheckpoint,
    PythonCheckpoint,
    FootprintCheckpoint,
    OfficialCheckpoint,
    Allowance,
    Comparison,
    PlannedCall,
    Solution,
    BundleRule,
    BundleExample,
)


class Block(NamedTuple):
    """A piece of code in a page, the comment that stands before it, and the JSON that it answers with.

    The comment `append to FILE` says that a reader puts the piece at the end of a file.
    """

    number: int
    mark: str
    language: str
    text: str
    answer: str | None

    @property
    def runs(self) -> bool:
        return self.mark == "run" if self.language == "sh" else not self.mark.startswith("not run")

    @property
    def file(self) -> str:
        """The file to which it is appended, if any."""
        return self.mark.removeprefix(APPEND) if self.mark.startswith(APPEND) else ""


def named(page: Path) -> str:
    return page.name


def text_of(name: str) -> str:
    """A page by the name of its file, whatever folder it is in."""
    [page] = DOCS.rglob(name)
    return page.read_text(encoding="utf-8")


def blocks(page: Path) -> list[Block]:
    """The sh and python blocks of a page, and those that are appended to a file."""
    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    every = (Block(at, one["mark"] or "", one["language"], one["text"], one["answer"]) for at, one in enumerate(found))
    return [block for block in every if block.language in ("sh", "python") or block.file]


RUNNING = [
    pytest.param(page, marks=[pytest.mark.slow] if page.name in LONG_PAGES else [], id=page.name)
    for page in PAGES
    if any(block.runs for block in blocks(page))
]


@pytest.mark.parametrize("page", RUNNING)
async def test_what_a_page_shows_runs(page: Path, tmp_path: Path) -> None:
    running = [block for block in blocks(page) if block.runs]
    seconds = LONG * len(running) * (5 if page.name in LONG_PAGES else 1)
    if not any(block.language == "sh" for block in running):
        return await run(running, tmp_path, seconds)
    async with farm_up(tmp_path / ".envfarm", "--port", "0", "--library", tmp_path, home=tmp_path):
        return await run(running, tmp_path, seconds)


async def run(running: list[Block], home: Path, seconds: float) -> None:
    """Run blocks one after another in one shell, as a reader who copies them, and compare what they answer."""
    (home / "said").mkdir()
    (home / "tests").symlink_to(ROOT / "tests")
    write_forked_programs(home / "bin")
    process = await asyncio.create_subprocess_exec(
        *("bash", "-euo", "pipefail", "-c", "\n".join(as_shell(block, home) for block in running)),
        cwd=home,
        env={
            "PATH": f"{home}/bin:{Path(sys.executable).parent}:{os.defpath}",
            "HOME": str(home),
            "LANG": "C.UTF-8",
        },
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(seconds):
        _, complaints = await process.communicate()
    assert process.returncode == 0, complaints.decode()
    for block in running:
        if block.answer is not None:
            said: Any = json.loads((home / "said" / str(block.number)).read_text())
            assert list(differences(json.loads(block.answer), said, "")) == [], block.text


def as_shell(block: Block, home: Path) -> str:
    text = block.text
    if block.file:
        (home / f"block{block.number}").write_text(text, encoding="utf-8")
        text = f"cat {home}/block{block.number} >> {block.file}\n"
    elif block.language == "python":
        script = home / f"block{block.number}.py"
        script.write_text(text, encoding="utf-8")
        text = f"python {script}\n"
    return f"{{\n{text}}} > {home}/said/{block.number}"


def differences(told: Any, said: Any, where: str) -> Iterator[str]:
    """Where an answer is not what a page shows: "…" stands for anything, a list may show its first items only."""
    if where.rpartition(".")[2] in CHANGES_EACH_TIME or is_beginning(told, said):
        return
    if isinstance(told, dict) and isinstance(said, dict):
        shown, got = cast("dict[str, Any]", told), cast("dict[str, Any]", said)
        yield from (f"{where}: {key!r} is in one of the two only" for key in shown.keys() ^ got.keys())
        for key in shown.keys() & got.keys():
            yield from differences(shown[key], got[key], f"{where}.{key}")
    elif isinstance(told, list) and isinstance(said, list):
        some, every = cast("list[Any]", told), cast("list[Any]", said)
        if len(every) < len(some):
            yield f"{where}: is shorter"
        for value, other in zip(some, every, strict=False):
            yield from differences(value, other, where)
    elif told != said:
        yield f"{where}: is {said!r}"


def is_beginning(told: object, said: object) -> bool:
    return told == "…" or (
        isinstance(told, str) and isinstance(said, str) and told.endswith("…") and said.startswith(told[:-1])
    )


def commands(text: str) -> Iterator[list[str]]:
    """The words of each `farm` command in a piece of shell, without `farm` itself."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        lexer.commenters = "#"
        command: list[str] = []
        for word in [*lexer, "\n"]:
            if word not in BETWEEN_COMMANDS and not word.startswith((">", "<")):
                command.append(word)
                continue
            at = next((at for at, one in enumerate(command) if OUR_COMMAND.fullmatch(one)), None)
            if at is not None and all("=" in before for before in command[:at]):
                yield command[at + 1 :]
            command = []


SHOWN = [
    (page.name, command)
    for page in PAGES
    for block in blocks(page)
    if block.language == "sh"
    for command in commands(block.text)
]


@pytest.mark.parametrize(("page", "command"), SHOWN, ids=str)
def test_a_command_that_a_page_shows_is_understood(page: str, command: list[str]) -> None:
    assert command, f"{page}: `farm` alone"
    understood = every_command()
    name = " ".join(command[:2]) if " ".join(command[:2]) in understood else command[0]
    assert name in understood, page
    understood[name].make_context(name, command[len(name.split()) :])


@cache
def every_command() -> dict[str, Any]:
    """The commands by name, those of a group by both names: `synth run`."""
    found: dict[str, Any] = {}
    for name in farm.LISTED:
        command = farm.loaded(name)
        below: dict[str, Any] = getattr(command, "commands", {})
        found |= {f"{name} {other}": one for other, one in below.items()} or {name: command}
    return found


def test_commands_are_found_where_a_reader_sees_them() -> None:
    shell = "cd x && .venv/bin/farm demo  # farm nothing\nA=1 farm up &\nfarm launch \\\n  e > farm.json\necho farm"
    assert list(commands(shell)) == [["demo"], ["up"], ["launch", "e"]]


def test_every_command_and_every_option_has_its_place() -> None:
    sections = dict(
        re.findall(r"^## `farm ([\w -]+)`\n(.*?)(?=^## |\Z)", text_of("commands.md"), re.MULTILINE | re.DOTALL)
    )
    there = {
        name: {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
        for name, command in every_command().items()
        if not command.hidden
    }
    assert sections.keys() == there.keys()
    for name, options in there.items():
        described = re.findall(r"^\| ([^|]*--[^|]*) \|", sections[name], re.MULTILINE)
        told = {option for cell in described for option in re.findall(r"--[\w-]+", cell)}
        assert told == {option for option in options if option.startswith("--")}, name


def test_every_route_of_the_api_has_its_place() -> None:
    ledger = Ledger.open("sqlite://")
    try:
        paths: dict[str, Any] = control_app(Registry(Library([]), ledger, Fleet()), token="t").openapi()["paths"]
    finally:
        ledger.close()
    routes = {(verb.upper(), path) for path, verbs in paths.items() for verb in verbs}
    assert set(re.findall(r"^### `(\w+) (/v1/[^`]*)`$", text_of("api.md"), re.MULTILINE)) == routes


def test_every_kind_of_error_and_outcome_has_its_place() -> None:
    ours = [*vars(servers.errors).values(), *vars(agent_client.errors).values()]
    classes = [one.__name__ for one in ours if isinstance(one, type) and issubclass(one, Exception)]
    assert missing(classes, "errors.md") == []
    assert missing(get_args(ErrorKind), "api.md", "errors.md") == []
    assert missing(get_args(OutcomeKind), "api.md", "errors.md") == []
    assert missing([*get_args(Outcome), *get_args(End), *Rollout.model_fields], "agents.md") == []


@pytest.mark.parametrize("model", BUNDLE_KEYS, ids=lambda model: model.__name__)
def test_every_key_of_a_bundle_has_its_place(model: type[BaseModel]) -> None:
    page = "".join(text_of(name) for name in BUNDLE_PAGES)
    assert [key for key in model.model_fields if f"`{key}`" not in page and f'"{key}"' not in page] == []
    for field in model.model_fields.values():
        if getattr(field.annotation, "__origin__", None) is Literal:
            values = [str(value) for value in get_args(field.annotation)]
            assert [value for value in values if not re.search(rf"`\W*{value}`", page)] == []


def missing(names: Iterator[str] | list[str] | tuple[str, ...], *pages: str) -> list[str]:
    """Which names do not stand in each of some pages as code."""
    return [f"{page}: {name}" for page in pages for name in names if not re.search(rf"`\W*{name}`", text_of(page))]


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_every_link_leads_somewhere(page: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
        file = page.parent / target if target else page
        assert file.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in [anchor_of(heading) for heading in headings], f"{target}#{anchor}"


def anchor_of(heading: str) -> str:
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_the_floors_are_those_that_imports_are_held_to() -> None:
    rows = re.findall(r"^\| (\d) \| ([^|]*) \|", text_of("architecture.md"), re.MULTILINE)
    assert {part: int(floor) for floor, cell in rows for part in re.findall(r"`(\w+)/`", cell)} == FLOORS


def test_the_sample_of_the_library_is_told() -> None:
    told = re.findall(r"^Of the library this checks (.*?)\. ", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert told == [" and ".join(f"`{name}`" for name in SAMPLE)]


def test_every_page_is_listed() -> None:
    listed = set(re.findall(r"\]\(([\w/-]+\.md)\)", text_of("index.md")))
    assert listed == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")} - {"index.md"}
