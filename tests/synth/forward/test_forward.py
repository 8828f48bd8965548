"""Scenarios proposed by a writer are played by a solver, and kept only with a certificate. The model is a recording."""

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
from synth.forward.checks import Checks, check_findings
from synth.forward.proposal import Proposal, proposal_findings
from synth.play.playground import Playground
from tests.doubles import StubEndpoint, refused
from tests.processes import Done, farm
from tests.synth.forward.recorded_model import Key, RecordedModel, answered

STUDENT = "A student sets things straight before going abroad"
NAME = "fwd_a_student_sets_things_straight_before_going"
CHECKS: Key = ("Checks", STUDENT)
WORDS = "def check(start, final, answer, calls):\n    return 'paid' in answer\n"


def proposed(title: str = STUDENT) -> dict[str, Any]:
    """One recorded proposal."""
    [found] = [one for one in answered("Proposals")["proposals"] if one["title"] == title]
    return found


ALONE: dict[Key, list[dict[str, Any]]] = {("Proposals", ""): [{"proposals": [proposed()]}]}


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """The library, without its scenarios."""
    folder = tmp_path / "library_loans"
    shutil.copytree(OWN_LIBRARY / "library_loans", folder)
    (folder / "scenarios.jsonl").write_text("", encoding="utf-8")
    return folder


async def made(home: Path, model: RecordedModel, *options: str, n: int = 1) -> Done:
    """What the command says, with a model behind it that is asked over HTTP."""
    async with model.serve() as url:
        return await farm(
            *("synth", "forward", "library_loans", "--n", str(n), "--work", "work"),
            *("--base-url", url, "--api-key", "none", "--model", "relay", "--attempts", "2", "--at-once", "1"),
            *options,
            home=home,
        )


def scenarios(bundle: Path) -> dict[str, Scenario]:
    return load_scenarios(load(bundle))


def without(checks: dict[str, Any], name: str) -> dict[str, Any]:
    """Checks of which one item is left out."""
    left = copy.deepcopy(checks)
    for key in ("checklist", "checkpoints"):
        left[key] = [one for one in left[key] if one["id"] != name]
    return left


def with_sql(checks: dict[str, Any], name: str, expect: Any) -> dict[str, Any]:
    """Checks of which one checkpoint expects something else."""
    changed = copy.deepcopy(checks)
    [one] = [one for one in changed["checkpoints"] if one["id"] == name]
    one["expect"] = expect
    return changed


@pytest.mark.slow
async def test_a_recorded_run_gives_four_certified_scenarios(bundle: Path) -> None:
    done = await made(bundle.parent, RecordedModel(), n=4)
    assert done.code == 0, done.err
    assert "4 of 4 proposed scenarios are certified." in done.out
    environment, there = load(bundle), scenarios(bundle)
    assert len(there) == 4
    for one in there.values():
        assert one.id.startswith("fwd_")
        assert is_current(environment, one)
        assert one.certificate is not None
        assert one.certificate.kill_score == 1.0
        assert one.certificate.difficulty.calls >= 6
        assert one.provenance is not None
        assert one.provenance.model == "relay"
        assert set(one.provenance.prompts) == {"proposals", "checks"}
    swap = there["fwd_swapping_a_place_in_line_for_another"]
    assert swap.certificate is not None
    assert swap.certificate.difficulty.pass_rate == 0.5


async def test_the_shortest_passing_run_is_the_reference_and_refers_to_what_was_made_in_it(bundle: Path) -> None:
    done = await made(bundle.parent, RecordedModel(instead=ALONE))
    assert done.code == 0, done.err
    one = scenarios(bundle)[NAME]
    solved = json.loads((bundle.parent / "work/scenarios" / NAME / "03-solve.json").read_text())["value"]
    assert [attempt["passed"] for attempt in solved["attempts"]] == [True, True]
    assert len(one.reference().calls) == 8
    assert one.reference().calls[-1].arguments == {"copy_id": "${4.loans[1].copy_id}"}
    assert one.played is not None
    assert (one.played.model, one.played.attempts, one.played.passed) == ("relay", 2, 2)


async def test_a_run_that_was_stopped_goes_on_and_asks_for_nothing_twice(bundle: Path) -> None:
    model = RecordedModel(instead=ALONE, ends_after=4)
    assert (await made(bundle.parent, model)).code != 0
    assert scenarios(bundle) == {}
    rest = RecordedModel(instead=ALONE)
    done = await made(bundle.parent, rest)
    assert done.code == 0, done.err
    assert (rest.count("Proposals"), rest.count("Checks")) == (0, 0)
    again = RecordedModel()
    done = await made(bundle.parent, again)
    assert (done.code, again.asked) == (0, [])
    assert done.out.startswith("Nothing was tried: of this kind ")
    assert "scenarios.jsonl has the 1 that --n asks for; " in done.out
    assert list(scenarios(bundle)) == [NAME]


async def test_checkpoints_that_let_wrong_runs_pass_go_back_once_and_nobody_plays_again(bundle: Path) -> None:
    weak = without(without(answered(*CHECKS), "card_renewed"), "fine_paid")
    model = RecordedModel(instead={**ALONE, CHECKS: [weak]})
    done = await made(bundle.parent, model)
    assert done.code == 0, done.err
    assert "Sent back: certify → checks 1." in done.out
    whole = RecordedModel(instead=ALONE)
    assert model.count("Checks") == 2
    assert (
        "passes, although it is wrong: call 5 (pay_fine) with paid_by 'cash' for 'card'"
        in model.prompts[[kind for kind, _ in model.asked].index("Checks", 3)]
    )
    assert model.count("solve") == await solver_turns(bundle, whole)


async def solver_turns(bundle: Path, model: RecordedModel) -> int:
    """How often the solver is asked in a run in which nothing goes wrong."""
    (bundle / "scenarios.jsonl").write_text("", encoding="utf-8")
    shutil.rmtree(bundle.parent / "work")
    await made(bundle.parent, model)
    return model.count("solve")


async def test_what_nobody_solves_goes_back_with_the_evidence_and_is_judged_by_the_mended_checkpoints(
    bundle: Path,
) -> None:
    wrong = with_sql(answered(*CHECKS), "kindred_extended", [["2026-04-08", 2, "open"]])
    diagnosis = {"fault": "checkpoints", "why": "A student's loan runs 28 days.", "setup": "", "task": ""}
    model = RecordedModel(instead={**ALONE, CHECKS: [wrong], ("Mended", ""): [diagnosis]})
    done = await made(bundle.parent, model)
    assert done.code == 0, done.err
    assert "Sent back: solve → proposal 1." in done.out
    asked = [prompt for (kind, _), prompt in zip(model.asked, model.prompts, strict=True) if kind == "Mended"]
    assert "does not hold: kindred_extended" in asked[0]
    assert "2026-04-15" in asked[0]
    assert list(scenarios(bundle)) == [NAME]


async def test_what_only_a_better_solver_could_solve_is_dropped_and_said(bundle: Path) -> None:
    wrong = with_sql(answered(*CHECKS), "kindred_extended", [["2026-04-08", 2, "open"]])
    diagnosis = {"fault": "solver", "why": "It did not look.", "setup": "", "task": ""}
    model = RecordedModel(instead={**ALONE, CHECKS: [wrong], ("Mended", ""): [diagnosis]})
    model.instead = {**model.instead, ("Proposals", ""): [{"proposals": [proposed()]}] * 5}
    done = await made(bundle.parent, model)
    assert scenarios(bundle) == {}
    assert "the fault is the solver's" in " ".join(done.out.split())
    assert "0 of 1 proposed scenarios are certified." in done.out
    assert "this title was proposed before" in model.prompts[-1]


async def test_a_task_that_cannot_be_done_is_mended_once_and_played_anew(bundle: Path) -> None:
    barred = {
        **proposed(),
        "setup": proposed()["setup"].replace("'2023-04-01', '2026-04-01'", "'2023-07-01', '2026-07-01'"),
    }
    diagnosis = {
        "fault": "task",
        "why": "Her card cannot be renewed yet.",
        "setup": proposed()["setup"],
        "task": proposed()["task"],
    }
    model = RecordedModel(instead={("Proposals", ""): [{"proposals": [barred]}], ("Mended", ""): [diagnosis]})
    done = await made(bundle.parent, model)
    assert done.code == 0, done.err
    assert "Sent back: solve → proposal 1." in done.out
    one = scenarios(bundle)[NAME]
    assert one.setup == proposed()["setup"]
    assert len(list((bundle.parent / "work/scenarios" / NAME / "runs").iterdir())) == 4


@pytest.mark.parametrize(
    ("change", "finding"),
    [
        ({"task": "Please."}, "characters"),
        ({"task": proposed()["task"] + " Use renew_card for it."}, "names the tool renew_card"),
        ({"task": proposed()["task"] + " I am mem_leyla."}, "gives the key mem_leyla"),
        ({"setup": ""}, "changes no row"),
        ({"setup": "UPDATE nowhere SET x = 1;"}, "does not run"),
        ({"setup": "INSERT INTO branches VALUES ('branch_x', 'John Doe', '1 Way');"}, "placeholder"),
        ({"setup": "INSERT INTO branches VALUES ('branch_x', 'Hill', '1 Way');"}, "no row refers to it"),
        ({"steps": ["find_members", "renew_card"]}, "too easy"),
        ({"steps": ["find_members", "do_magic", "renew_card", "find_loans"]}, "no tool 'do_magic'"),
        ({"steps": ["find_members", "find_loans", "find_books", "find_copies"]}, "nothing would change"),
    ],
)
async def test_a_proposal_is_refused_in_words(change: dict[str, Any], finding: str) -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        found = await proposal_findings(Proposal.model_validate({**proposed(), **change}), stage, [])
        assert any(finding in one for one in found), found


async def test_a_proposal_like_one_that_there_is_is_refused() -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        proposal = Proposal.model_validate(proposed())
        assert await proposal_findings(proposal, stage, ["Move Dune to the Central branch."]) == []
        assert "nearly the same" in (await proposal_findings(proposal, stage, [proposal.task + " Thanks."]))[0]


def odd(**changes: Any) -> dict[str, Any]:
    """The recorded checks with the first checkpoint changed."""
    checks = copy.deepcopy(answered(*CHECKS))
    checks["checkpoints"][0] |= changes
    return checks


def of_kind(kind: str, **said: Any) -> dict[str, Any]:
    """The recorded checks with the first checkpoint of another kind."""
    checks = copy.deepcopy(answered(*CHECKS))
    first = checks["checkpoints"][0]
    checks["checkpoints"][0] = {key: first[key] for key in ("id", "role", "question")} | {"kind": kind, **said}
    return checks


@pytest.mark.parametrize(
    ("checks", "finding"),
    [
        (odd(id="other"), "none asks 'fine_paid'"),
        (odd(role="guard"), "a goal in the checklist, and a guard"),
        (odd(sql="SELECT nothing FROM nowhere"), "cannot be asked"),
        (odd(sql="SELECT 1", expect=[[1]]), "a goal, but it holds before"),
        (odd(sql="SELECT count(*) > 0 FROM fines WHERE :answer <> ''", expect=[[1]]), "looks for words in the answer"),
        (of_kind("python", python=WORDS), "looks for words in the answer"),
        (of_kind("answer", facts=[{"name": "said", "type": "name", "value": "sorry"}]), "an agent that only says"),
        (odd(sql="SELECT id FROM fines WHERE id = 'fine_3397ac14'"), "which an instance makes up"),
        (without(answered(*CHECKS), "nothing_else"), "none is a footprint"),
        (without(without(answered(*CHECKS), "card_date_told"), "due_date_told"), "none is of kind `answer`"),
        ({**answered(*CHECKS), "free": [{"tool": "renew_card", "argument": "why"}]}, "no argument 'why'"),
    ],
)
async def test_checkpoints_are_refused_in_words(checks: dict[str, Any], finding: str) -> None:
    async with Playground(OWN_LIBRARY / "library_loans") as stage:
        found = await check_findings(Checks.model_validate(checks), Proposal.model_validate(proposed()), stage)
        assert any(finding in one for one in found), found


async def test_the_command_says_what_it_lacks(tmp_path: Path) -> None:
    nobody = await farm("synth", "forward", "library_loans", home=tmp_path)
    assert (nobody.code, "--solver NAME" in nobody.err) == (2, True)


async def test_a_solver_whose_key_is_refused_is_a_misuse(bundle: Path) -> None:
    model = RecordedModel(instead=ALONE)
    async with StubEndpoint([refused(401, "bad key")] * 2).serve() as solver:  # both attempts ask
        done = await made(bundle.parent, model, "--solver", "other", "--solver-url", solver)
    assert (done.code, model.count("Checks")) == (2, 1)
    assert done.err.startswith("farm: solver: ")
    assert "HTTP 401: bad key; " in done.err
    assert done.err.count("\n") == 1
