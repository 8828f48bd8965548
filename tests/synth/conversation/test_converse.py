"""Certified scenarios become conversations that cannot do without asking, and are kept only when somebody had one."""

import copy
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import is_current, load_scenarios
from synth.conversation.choices import Needed, needed
from synth.conversation.talk import Talk, findings
from synth.play.playground import Playground
from synth.solutions.reference_run import played
from tests.processes import Done, farm
from tests.synth.conversation.talking_model import TalkingModel

ORIGIN = "back1_0047"
NAME = f"{ORIGIN}_talk"
TALK: dict[str, Any] = {
    "persona": "You are at the service desk with a member in front of you; friendly, but you have little time.",
    "opening": "Hello, I have a member here who would like to keep a book longer and take another one home.",
    "facts": [
        {"what": "This is about Yuki Tanabe.", "when": "asked", "cue": "who the member is"},
        {"what": "The loan to extend is that of Dune.", "when": "asked", "cue": "which book is to be kept"},
        {
            "what": "Klara and the Sun from the Central branch is the one to check out in their name.",
            "when": "after",
            "cue": "the first loan is settled",
        },
    ],
}
LINES = [TALK["opening"], "Yuki Tanabe; extend Dune, and check out Klara and the Sun from the Central branch."]


def own() -> dict[str, Scenario]:
    return load_scenarios(load(OWN_LIBRARY / "library_loans"))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The library with one scenario that can become a conversation, and one that cannot."""
    folder = tmp_path / "library_loans"
    shutil.copytree(OWN_LIBRARY / "library_loans", folder)
    kept = [own()[name].model_dump_json(exclude_defaults=True) for name in ("renew_card", ORIGIN)]
    (folder / "scenarios.jsonl").write_text("".join(f"{line}\n" for line in kept), encoding="utf-8")
    return folder


def model(*talks: dict[str, Any], **given: Any) -> TalkingModel:
    return TalkingModel(talks or (TALK,), own()[ORIGIN].reference(), LINES, **given)


async def made(bundle: Path, talking: TalkingModel, *options: str) -> Done:
    """What the command says, with models behind it that are asked over HTTP."""
    async with talking.serve() as url:
        return await farm(
            *("synth", "converse", "library_loans", "--work", "work", "--base-url", url),
            *("--api-key", "none", "--model", "writer", "--solver", "solver", "--user", "user", "--at-once", "1"),
            *options,
            home=bundle.parent,
        )


def there(bundle: Path) -> dict[str, Scenario]:
    return load_scenarios(load(bundle))


async def test_a_certified_scenario_becomes_a_conversation_with_a_certificate_of_its_own(bundle: Path) -> None:
    talking = model()
    done = await made(bundle, talking)
    assert done.code == 0, done.err
    assert "1 of 1 conversations are certified." in done.out
    assert list(there(bundle)) == ["renew_card", ORIGIN, NAME]
    one, origin = there(bundle)[NAME], own()[ORIGIN]
    assert is_current(load(bundle), one)
    assert (one.task, one.checkpoints, one.solution, one.setup) == (
        origin.task,
        origin.checkpoints,
        origin.solution,
        origin.setup,
    )
    assert one.tags == ("conversation", *origin.tags)
    assert one.persona is not None
    assert "only when you are asked who the member is" in one.persona
    assert one.played is not None
    assert (one.played.model, one.played.attempts, one.played.passed) == ("solver", 2, 2)
    assert one.certificate is not None
    assert one.certificate.difficulty.pass_rate == 1.0
    assert one.provenance is not None
    assert ORIGIN in one.provenance.source
    assert set(one.provenance.prompts) == {"talk"}


async def test_the_solver_hears_the_user_and_never_the_task(bundle: Path) -> None:
    talking = model()
    await made(bundle, talking, "--attempts", "1")
    first = talking.told("solver")[0]
    assert first[1]["content"] == TALK["opening"]
    assert own()[ORIGIN].task not in json.dumps(talking.told("solver"))
    assert own()[ORIGIN].task in talking.told("user")[0][0]["content"]


async def test_a_run_that_was_stopped_goes_on_and_asks_for_nothing_twice(bundle: Path) -> None:
    whole = model()
    assert (await made(bundle, whole)).code == 0
    shutil.rmtree(bundle.parent / "work")
    (bundle / "scenarios.jsonl").write_text(own()[ORIGIN].model_dump_json(exclude_defaults=True) + "\n")
    halfway = len(whole.asked) // 2 + 2
    assert (await made(bundle, model(ends_after=halfway))).code != 0
    assert list(there(bundle)) == [ORIGIN]
    rest = model()
    done = await made(bundle, rest)
    assert done.code == 0, done.err
    assert rest.count("writer") == 0
    assert rest.count("solver") == whole.count("solver") // 2
    again = model()
    assert (await made(bundle, again, "--n", "1")).code == 0
    assert again.asked == []
    assert list(there(bundle)) == [ORIGIN, NAME]


async def test_what_nobody_solves_goes_back_once_with_what_was_said(bundle: Path) -> None:
    other = {**TALK, "persona": "You are a clerk who says everything that is asked for, and waits."}
    talking = model(TALK, other, wrong=2)
    done = await made(bundle, talking)
    assert done.code == 0, done.err
    assert "Sent back: meet → talk 1." in done.out
    told = talking.told("writer")[1][1]["content"]
    assert "Who are you, and which book is it?" in told
    assert "Yuki Tanabe; extend Dune" in told
    assert "does not hold" in told
    persona = there(bundle)[NAME].persona
    assert persona is not None
    assert persona.startswith(other["persona"])


async def test_what_nobody_solves_twice_is_dropped_and_tried_again_only_when_asked(bundle: Path) -> None:
    done = await made(bundle, model(wrong=99))
    assert (done.code, "0 of 1 conversations are certified." in done.out) == (0, True)
    assert list(there(bundle)) == ["renew_card", ORIGIN]
    nothing = await made(bundle, model())
    assert (nothing.code, "none of its scenarios can become a conversation" in " ".join(nothing.err.split())) == (
        1,
        True,
    )
    assert (await made(bundle, model(), "--again")).code == 0
    assert list(there(bundle)) == ["renew_card", ORIGIN, NAME]


async def known(stage: Playground, name: str = ORIGIN) -> tuple[Needed, list[str]]:
    """What only the person can tell in a scenario, and all that a reader of it may name."""
    reference = await played(stage, own()[name])
    await reference.close()
    found = needed(reference)
    return found, [choice.words for choice in found.choices]


async def refusals(talk: dict[str, Any]) -> list[str]:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        reference = await played(stage, own()[ORIGIN])
        await reference.close()
        return findings(Talk.model_validate(talk), reference.scenario.task, needed(reference), stage, reference.rows)


def with_fact(at: int, **changes: str) -> dict[str, Any]:
    """The conversation with one fact changed."""
    talk = copy.deepcopy(TALK)
    talk["facts"][at] |= changes
    return talk


async def test_what_only_the_person_can_tell_is_seen_in_the_reference() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        found, choices = await known(stage)
        assert choices == ["Yuki Tanabe", "Dune, Yuki Tanabe", "Klara and the Sun, Central"]
        assert found.is_enough
        _, one = await known(stage, "renew_card")
        assert one == ["Ruth Abernathy"]


async def test_a_row_is_open_as_long_as_another_fits_what_was_said() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        found, _ = await known(stage)
        person, _, copy_to_lend = found.choices
        assert copy_to_lend.is_open("Klara and the Sun, please.")
        assert copy_to_lend.is_open("Something from Central.")
        assert not copy_to_lend.is_open("Klara and the Sun from Central, please.")
        assert person.is_open("A member is here.")
        assert not person.is_open("yuki tanabe is here")


async def test_a_conversation_that_is_right_has_nothing_against_it() -> None:
    assert await refusals(TALK) == []
    assert await refusals(with_fact(0, what="Yuki Tanabe.", cue="who that is")) == []


@pytest.mark.parametrize(
    ("talk", "finding"),
    [
        (with_fact(1, what="The loan to extend is the novel about a desert."), "nobody tells 'Dune'"),
        (with_fact(2, what="Klara and the Sun is to be checked out in their name."), "nobody tells 'Central'"),
        (with_fact(0, what="This is about Yuki Tanabe, card 4711."), "4711 is not in the task"),
        ({**TALK, "opening": own()[ORIGIN].task}, "tells all that only the person knows"),
        ({**TALK, "facts": [{**one, "when": "after"} for one in TALK["facts"]]}, "has to be asked for"),
        (
            {**TALK, "opening": "Hello, please run renew_loan for a member."},
            "opening: names the tool renew_loan",
        ),
        (with_fact(0, cue="for the member_id"), "facts.0.cue: names member_id"),
        (with_fact(0, what="This is about Yuki Tanabe, mem_yuki."), "facts.0.what: gives the key mem_yuki"),
        (
            {**TALK, "persona": "Вы стоите у стойки с читателем, приветливы, но спешите домой."},
            "persona: is not English",
        ),
    ],
)
async def test_a_conversation_is_refused_in_words(talk: dict[str, Any], finding: str) -> None:
    found = await refusals(talk)
    assert any(finding in one for one in found), found


async def test_the_writer_is_told_what_is_wrong_and_asked_again(bundle: Path) -> None:
    talking = model({**TALK, "opening": "Hi."}, {**TALK, "opening": own()[ORIGIN].task}, TALK)
    done = await made(bundle, talking)
    assert done.code == 0, done.err
    assert "Answers refused: talk 2." in done.out
    told = [messages[-1]["content"] for messages in talking.told("writer")]
    assert "is shorter than 15 characters" in told[1]
    assert "so nobody has to ask" in told[2]


async def test_the_command_says_what_it_lacks(tmp_path: Path) -> None:
    strange = ("--model", "m", "--scenario", "nowhere")
    unknown = await farm("synth", "converse", "library_loans", *strange, home=tmp_path)
    assert (unknown.code, "has no scenario 'nowhere'" in " ".join(unknown.err.split())) == (2, True)
    nobody = await farm("synth", "converse", "library_loans", home=tmp_path)
    assert (nobody.code, "say --solver NAME" in " ".join(nobody.err.split())) == (2, True)
    missing = await farm("synth", "converse", "library_loans", "--model", "m", "--out", "no/f", home=tmp_path)
    assert (missing.code, "cannot be written" in missing.err) == (2, True)
