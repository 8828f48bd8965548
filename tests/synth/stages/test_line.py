"""The whole line of stages, replayed from the recorded exchanges of a veterinary clinic."""

import json
from pathlib import Path

import pytest

from servers.bundle import load
from servers.check import findings
from servers.guests import Guests
from synth.proving.proof import load_proof
from synth.run.stage import Stage
from synth.stages.line import STAGES
from tests.synth.stages.replay import environment, replayed


@pytest.mark.slow
async def test_a_title_becomes_a_bundle_that_the_farm_accepts_and_that_is_proved(tmp_path: Path) -> None:
    made, end = await replayed(tmp_path)
    assert end.state == "accepted", end.why
    bundle = made.folder / "bundle" / "veterinary_clinic"
    async with Guests() as guests:
        assert await findings(bundle, guests) == []
    proof = load_proof(bundle)
    assert proof is not None
    assert proof.sound
    claimed = [seen.shown for seen in proof.rules.values() if seen.holder != "agent"]
    assert len(claimed) == 26
    assert sum(claimed) >= 20
    assert proof.score > 80
    about = load(bundle).description.provenance
    assert (about.source, about.licence, about.model) == ("synthesised", "MIT", "relay")
    assert {"schema", "seed", "code", "tester", "checker"} <= about.prompts.keys()


def before(stage: str) -> tuple[Stage, ...]:
    """The stages that come before one."""
    return STAGES[: [one.name for one in STAGES].index(stage)]


async def test_the_artefacts_up_to_the_interface_are_files_that_say_what_was_asked(tmp_path: Path) -> None:
    made = environment(tmp_path)
    made.stages = before("code")
    assert (await made.advance()).state == "accepted"
    names = sorted(path.name for path in made.folder.glob("*.json"))
    assert names == ["00-topic.json", "01-setting.json", "02-schema.json", "03-seed.json", "04-interface.json"]
    artefact = json.loads((made.folder / "02-schema.json").read_text(encoding="utf-8"))
    assert [one["model"] for one in artefact["exchanges"]] == ["relay"]
    assert len(artefact["value"]["rules"]) == 30
