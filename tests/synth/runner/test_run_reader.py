"""The process that reads runs for pages: the list is answered before large runs are read."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from registry.web.pages.run_questions import RunQuestion
from synth.llm.writer import prompt_digest
from synth.runner.run_reader import MOST_SEARCHED, RunReader
from tests.evals.run_folders import QUESTION, SCHEMA, write_evaluation, write_synthesis
from tests.evals.suite_runs import shop


def listed(reader: RunReader) -> list[dict[str, Any]]:
    head, body = reader.answer(RunQuestion(kind="list"))
    assert head.status == "told"
    return json.loads(gzip.decompress(body))["runs"]


async def test_a_large_run_is_read_after_the_list_was_answered(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        await write_evaluation(farm, tmp_path / "one")
    [small] = listed(RunReader((tmp_path,)))
    assert small["figures"]["played"] == 4
    work: list[Callable[[], None]] = []
    reader = RunReader((tmp_path,), soon=0, later=work.append)
    [first] = listed(reader)
    assert (first["figures"], first["comes"], first["planned"]) == (None, True, 4)
    assert listed(reader) == [first]
    [read] = work  # once, however often the list is asked for
    read()
    [second] = listed(reader)
    assert second["figures"] == small["figures"]
    assert len(work) == 1


async def test_a_run_that_is_too_large_is_read_when_it_is_opened(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        await write_evaluation(farm, tmp_path / "one")
    reader = RunReader((tmp_path,), soon=0, largest=0)
    [line] = listed(reader)
    assert (line["figures"], line["comes"]) == (None, False)
    reader.answer(RunQuestion(kind="data", runs=(line["id"],)))
    [line] = listed(reader)
    assert line["figures"]["played"] == 4


async def test_a_large_run_that_cannot_be_read_says_so_in_the_next_list(tmp_path: Path) -> None:
    async with shop(tmp_path / "shelf") as farm:
        run = await write_evaluation(farm, tmp_path / "one")
    (run.path / "rollouts.jsonl").write_text("nothing\n", encoding="utf-8")
    work: list[Callable[[], None]] = []
    reader = RunReader((tmp_path,), soon=0, later=work.append)
    assert [one["trouble"] for one in listed(reader)] == [""]
    work.pop()()
    [told] = listed(reader)
    assert "line 1" in told["trouble"]


async def test_the_words_of_an_exchange_are_looked_for_in_some_runs_those_of_its_environment_first(
    tmp_path: Path,
) -> None:
    for one in write_synthesis(tmp_path / "blood").rglob("*"):
        os.utime(one, (1, 1))
    for at in range(MOST_SEARCHED):
        write_synthesis(tmp_path / f"other-{at:02}").joinpath("cache").rename(tmp_path / f"cache-{at}")
        own = tmp_path / f"other-{at:02}" / "environments"
        (own / "blood_bank").rename(own / "another")
    reader = RunReader((tmp_path,))
    asked = RunQuestion(kind="words", name=prompt_digest(QUESTION, SCHEMA), model="writer")
    told: list[dict[str, Any]] = []
    for environment in ("", "blood_bank"):
        _, body = reader.answer(asked.model_copy(update={"environment": environment}))
        told.append(json.loads(gzip.decompress(body)))
    assert [(one["name"], bool(one["texts"])) for one in told] == [("", False), ("blood", True)]
