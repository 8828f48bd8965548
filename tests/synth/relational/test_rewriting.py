"""The stages of a rewriting, replayed from the recorded exchanges of one environment of EnvScaler's (MIT licence)."""

import gzip
import json
from pathlib import Path

import pytest

from servers.bundle.environment import load
from servers.errors import RequestError
from synth.environments.code import Code
from synth.environments.schema import Schema
from synth.llm.recording import RecordingWriter
from synth.pipeline.environment_run import EnvironmentRun
from synth.pipeline.stage import Stage
from synth.relational.finish import REWRITE
from synth.relational.tools import Toolset
from synth.runner.launch import imported_topic

RECORDINGS = Path(__file__).parent.parent / "recordings"
NAME = "personal_nutrition_tracking_app"


def imported(folder: Path) -> Path:
    """The bundle that was rewritten."""
    bundle = folder / "env_191_rl"
    bundle.mkdir()
    files = json.loads(gzip.decompress((RECORDINGS / "env_191_rl.json.gz").read_bytes()))
    for name, text in files.items():
        (bundle / name).write_text(text, encoding="utf-8")
    return bundle


def through(stage: str) -> tuple[Stage, ...]:
    """The stages up to one."""
    return REWRITE[: 1 + [one.name for one in REWRITE].index(stage)]


@pytest.mark.slow
async def test_the_recorded_answers_make_tables_and_tools_that_do_what_the_class_does(tmp_path: Path) -> None:
    bundle = imported(tmp_path)
    writer = RecordingWriter(RECORDINGS / f"{NAME}.jsonl.gz")
    made = EnvironmentRun(NAME, tmp_path / NAME, through("tools"), writer)
    made.begin(imported_topic(bundle))
    end = await made.advance()
    assert end.state == "accepted", end.why
    artefacts = {artefact.stage: artefact for artefact in made.line.standing()}
    refused = {name: sum(bool(one.reasons) for one in artefact.exchanges) for name, artefact in artefacts.items()}
    assert {name: count for name, count in refused.items() if count} == {"tables": 3}
    assert artefacts["tables"].exchanges[0].reasons[0].startswith("loading_sql: the start task_2: the row")
    assert Schema.model_validate(artefacts["schema"].value).clock == load(bundle).description.clock
    tools = Toolset.model_validate(artefacts["tools"].value)
    assert isinstance(tools.code, Code)
    assert {one.kind for one in tools.differences} == {"order", "fault", "refuses"}
    assert "INSERT INTO meal_records" in tools.code.source


def test_only_an_imported_bundle_is_rewritten(tmp_path: Path) -> None:
    bundle = imported(tmp_path)
    assert imported_topic(bundle).title == "Personal nutrition tracking app"
    description = json.loads((bundle / "environment.json").read_text(encoding="utf-8"))
    del description["imported"]
    (bundle / "environment.json").write_text(json.dumps(description), encoding="utf-8")
    with pytest.raises(RequestError, match="was not imported; `farm import envscaler` makes such bundles"):
        imported_topic(bundle)
