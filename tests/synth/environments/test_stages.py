"""The whole line of stages, replayed from the recorded exchanges of two environments of the library."""

import json
from pathlib import Path

import pytest

from servers.authoring.check import findings
from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.sandbox.guest_pool import Guests
from synth.environments.stages import STAGES
from synth.pipeline.stage import Stage
from synth.prove.proof import load_proof
from tests.synth.environments.replay import environment

RECORDED = [
    ("insurance_claims_desk", "Insurance claims desk"),
    ("fitness_studio_memberships", "Fitness studio memberships"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "title"), RECORDED)
async def test_a_title_becomes_the_environment_of_the_library(name: str, title: str, tmp_path: Path) -> None:
    made = environment(name, title, tmp_path)
    end = await made.advance()
    assert end.state == "accepted", end.why
    bundle = made.folder / "bundle" / name
    async with Guests() as guests:
        assert await findings(bundle, guests) == []
    proof = load_proof(bundle)
    assert proof is not None
    assert proof.sound
    assert proof.score > 80
    about = load(bundle).description.provenance
    assert (about.source, about.licence, about.model) == ("synthesised", "MIT", "relay")
    assert {"schema", "seed", "code", "tester", "checker"} <= about.prompts.keys()
    for file in ("policy.md", "schema.sql", "seed.sql", "tools.py", "rules.json", "exchanges.json"):
        assert (bundle / file).read_text() == (OWN_LIBRARY / name / file).read_text(), file


def before(stage: str) -> tuple[Stage, ...]:
    """The stages that come before one."""
    return STAGES[: [one.name for one in STAGES].index(stage)]


async def test_the_artefacts_up_to_the_interface_are_files_that_say_what_was_asked(tmp_path: Path) -> None:
    made = environment(*RECORDED[0], tmp_path)
    made.stages = before("code")
    assert (await made.advance()).state == "accepted"
    names = sorted(path.name for path in made.folder.glob("*.json"))
    assert names == ["00-topic.json", "01-setting.json", "02-schema.json", "03-seed.json", "04-interface.json"]
    artefact = json.loads((made.folder / "02-schema.json").read_text(encoding="utf-8"))
    assert [one["model"] for one in artefact["exchanges"]] == ["relay"]
    assert len(artefact["value"]["rules"]) == 26
