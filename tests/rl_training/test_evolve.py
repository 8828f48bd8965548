"""`farm evolve`: rounds of evaluating, making scenarios where the agent is weak, and training it."""

import shutil
import signal
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from evals.rollout import Rollout
from evals.runs.folder import RunFolder
from evals.runs.records import Header, RolloutRecord, Subject
from evals.runs.suite import CommandAgent, read_suite
from registry.messages import ScenarioDetail
from rl_training.errors import TrainingError
from rl_training.evolve.evolution import PAGE, Evolution, newest
from rl_training.evolve.orders import EVENLY, orders_of
from rl_training.evolve.plan import EvolutionPlan, WeaknessTest, as_toml, load_plan
from rl_training.evolve.records import EvolutionRecord
from rl_training.evolve.scenario_parts import accept, bundles_of, essence
from rl_training.evolve.step_process import run_step
from rl_training.evolve.weak_spots import AgentResult, WeakSpot, lower_by_chance, weak_spots
from rl_training.evolve_command import step_line
from servers.bundle.environment import load
from servers.bundle_library import OWN_LIBRARY
from servers.errors import RequestError
from servers.scenario.scenario import Scenario
from servers.scenario.scenario_file import lines_of, load_scenarios
from tests.processes import farm, processes, started, until

PLAN: dict[str, Any] = {
    "rounds": 2,
    "model": "start",
    "environments": ["parcel_room"],
    "agent": {"command": "agent {model}"},
    "evaluation": {"attempts": 1, "perturb": ["names"]},
    "held_out": {"share": 0.6},
    "weak": {"alpha": 0.2, "least": 3},
    "make": {"scenarios": 6},
    "train": {"command": ["learn", "{model}", "{library}", "{new}", "{out}"], "model": "{out}/step_*/name.txt"},
}
TOOLS = ("send_parcel", "put_on_shelf")


def plan(**changes: Any) -> EvolutionPlan:
    return EvolutionPlan.model_validate({**PLAN, **changes})


@pytest.fixture(scope="module")
def scenarios() -> list[Scenario]:
    """Fourteen different scenarios of each of two commands."""
    found = {essence(one): one for one in load_scenarios(load(OWN_LIBRARY / "parcel_room")).values()}.values()
    chosen = {tool: [one for one in found if _does(one) == {tool}][:14] for tool in TOOLS}
    assert [len(ones) for ones in chosen.values()] == [14, 14]
    return [one for ones in chosen.values() for one in ones]


@pytest.fixture(scope="module")
def fresh(scenarios: list[Scenario]) -> list[Scenario]:
    """As many that begin otherwise."""
    return [one.model_copy(update={"setup": f"-- {at}"}) for at, one in enumerate(scenarios)]


@pytest.fixture
def shelf(scenarios: list[Scenario], tmp_path: Path) -> str:
    """A library with the parcel room, and these scenarios in it."""
    folder = tmp_path / "shelf"
    bundle = Path(shutil.copytree(OWN_LIBRARY / "parcel_room", folder / "parcel_room"))
    (bundle / "scenarios.jsonl").write_text(lines_of(scenarios))
    return str(folder)


def _does(scenario: Scenario) -> set[str]:
    return {call.tool for call in scenario.reference().calls} & set(TOOLS)


@dataclass
class Steps:
    """Does what the commands would: an agent that succeeds with the commands that its model has learnt.

    It breaks off before one of its steps, as a kill would.
    """

    fresh: Sequence[Scenario]
    stop_before: int | None = None
    done: list[str] = field(default_factory=list[str])
    seen: set[str] = field(default_factory=set[str])
    """The essence of each scenario that was there to train on."""

    def __call__(self, command: Sequence[str], log: Path, title: str) -> None:
        words = [word for word in command if word not in (sys.executable, "-m", "farm")]
        if len(self.done) == self.stop_before:
            raise KeyboardInterrupt
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text("said\n")
        self.done.append(words[0] if words[0] != "synth" else " ".join(["made", *words[7:]]))
        match words:
            case ["eval", suite, "--out", run, "--library", library]:
                self.evaluate(Path(suite), Path(run), Path(library))
            case ["synth", "backward", bundle, "--n", n, "--seed", seed, *options]:
                self.make(Path(bundle), int(n), int(seed), options)
            case ["learn", model, library, new, out]:
                self.learn(model, Path(library), Path(new), Path(out))
            case _:
                raise AssertionError(words)

    def evaluate(self, path: Path, run: Path, library: Path) -> None:
        suite, folder = read_suite(path), RunFolder(run)
        assert folder.path.parent == path.parent
        assert isinstance(suite.agent, CommandAgent)
        learnt = str(suite.agent.command)[len("agent ") :].split("+")
        details = [
            ScenarioDetail(environment="parcel_room", digest="0" * 64, scenario=one)
            for one in load_scenarios(load(library / "parcel_room")).values()
        ]
        subjects = [Subject(detail=one, writers=TOOLS, reference=None) for one in details]
        run.mkdir(exist_ok=True)
        folder.begin(Header.of(suite, len(subjects)), subjects)
        for one in details:
            passed = not suite.perturb and _does(one.scenario) <= set(learnt)
            rollout = Rollout(
                environment=one.environment, scenario=one.scenario.id, seed=0, outcome="scored", reward=float(passed),
                success=passed, error="", trace=None, score=None,
            )  # fmt: skip
            folder.append(RolloutRecord.of(suite, 0, rollout))

    def make(self, bundle: Path, n: int, seed: int, options: Sequence[str]) -> None:
        wanted = [one for one in self.fresh if options in ([], ["--tool", *_does(one)])]
        made = [one.model_copy(update={"id": f"back{seed}_{at:04d}"}) for at, one in enumerate(wanted[:n])]
        path = bundle / "scenarios.jsonl"
        path.write_text(path.read_text() + lines_of(made))

    def learn(self, model: str, library: Path, new: Path, out: Path) -> None:
        for one in load_scenarios(load(library / "parcel_room")).values():
            self.seen.add(essence(one))
        tools = [_does(one).pop() for one in load_scenarios(load(new / "parcel_room")).values()]
        learnt = max(sorted(set(tools)), key=tools.count, default="nothing")
        for step in (9, 10):
            (out / f"step_{step}").mkdir(exist_ok=True)
            name = f"{model}+{learnt}" if step == 10 else "an older one"
            (out / f"step_{step}" / "name.txt").write_text(name + "\n")


def evolve(run: Path, told: EvolutionPlan, steps: Steps) -> EvolutionRecord:
    said: list[str] = []
    run.mkdir(exist_ok=True)
    Evolution(told, run, steps, said.append).go()
    record = EvolutionRecord.read(run)
    assert record is not None
    return record


def test_scenarios_are_made_and_trained_on_just_where_the_agent_is_weak(
    fresh: list[Scenario], shelf: str, tmp_path: Path
) -> None:
    steps = Steps(fresh)
    record = evolve(tmp_path / "run", plan(library=(shelf,), model="send_parcel"), steps)
    first, second, last = record.rounds
    assert first.weak[0].label in ("tool put_on_shelf of parcel_room", "perturbation names")
    assert "made --tool put_on_shelf" in steps.done
    curve = [figure.success for one in record.rounds if (figure := one.figure()) is not None]
    assert curve == [4 / 9, 1.0, 1.0], "it knew one of two commands, and learnt the other"
    assert second.model == "send_parcel+put_on_shelf", "of two that the training left, the later one"
    perturbed = last.figure("parcel_room", "names")
    assert perturbed is not None
    assert perturbed.success == 0
    assert (last.made, last.next_model) == (None, None), "what came of the last round is evaluated, not trained"


def test_what_is_held_out_is_never_trained_on_even_if_it_is_made_again(
    scenarios: list[Scenario], fresh: list[Scenario], shelf: str, tmp_path: Path
) -> None:
    steps = Steps([*scenarios, *fresh[:8]])
    record = evolve(tmp_path / "run", plan(library=(shelf,), make={"scenarios": 36, "where": "even"}), steps)
    held = load_scenarios(load(tmp_path / "run" / "held-out" / "parcel_room")).values()
    assert len(held) == 17
    assert steps.seen & {essence(one) for one in held} == set()
    assert len(steps.seen) == 28 - 17 + 8
    assert record.rounds[0].made is not None
    [made] = record.rounds[0].made
    assert (made.spot, made.asked, made.made, made.dropped) == (EVENLY, 36, 8, 28)
    assert record.rounds[1].training_scenarios == 19


def test_an_evolution_that_is_broken_off_anywhere_goes_on_and_ends_the_same(
    fresh: list[Scenario], shelf: str, tmp_path: Path
) -> None:
    told = plan(library=(shelf,), rounds=1)
    whole = Steps(fresh)
    expected = evolve(tmp_path / "whole", told, whole)
    for stop in range(len(whole.done)):
        run, steps = tmp_path / f"stop-{stop}", Steps(fresh, stop_before=stop)
        with pytest.raises(KeyboardInterrupt):
            evolve(run, told, steps)
        assert evolve(run, told, Steps(fresh)) == expected
    again = Steps(fresh)
    evolve(tmp_path / "whole", told, again)
    assert again.done == [], "nothing is left to do"


def test_another_plan_is_refused_in_the_same_folder_and_more_rounds_are_not(
    fresh: list[Scenario], shelf: str, tmp_path: Path
) -> None:
    evolve(tmp_path / "run", plan(library=(shelf,), rounds=1), Steps(fresh))
    with pytest.raises(RequestError, match="holds an evolution by another plan"):
        evolve(tmp_path / "run", plan(library=(shelf,), rounds=1, make={"scenarios": 7}), Steps(fresh))
    assert len(evolve(tmp_path / "run", plan(library=(shelf,)), Steps(fresh)).rounds) == 3


def test_the_page_stands_alone_and_escapes_what_others_wrote(fresh: list[Scenario], shelf: str, tmp_path: Path) -> None:
    told = plan(library=(shelf,), name="<script>alert(1)</script>")
    evolve(tmp_path / "run", told, Steps(fresh))
    page = (tmp_path / "run" / PAGE).read_text()
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert page.count("<circle") == 6, "three evaluations, with and without the perturbation"


def played(at: int, success: bool, **changes: Any) -> AgentResult:
    told: dict[str, Any] = {
        "environment": "shop", "scenario": f"s{at}", "tools": frozenset[str](), "level": None,
        "demands": frozenset[str](), "perturb": "", "successes": int(success), "attempts": 1,
    }  # fmt: skip
    return AgentResult(**{**told, **changes})


def test_a_spot_is_weak_by_all_its_properties_and_is_compared_with_the_rest() -> None:
    ones = [
        played(at, at % 4 > 0, level=1 + (at % 4 == 0), demands=frozenset({"takes all"} if at % 4 == 0 else ()))
        for at in range(40)
    ]
    moved = [one._replace(perturb="names", successes=0) for one in ones]
    weak = {one.label: one for one in weak_spots([*ones, *moved], WeaknessTest()) if one.is_weak}
    assert weak.keys() == {"level 2", "demand takes all", "perturbation names"}
    assert (weak["level 2"].success, weak["level 2"].others, weak["level 2"].scenarios) == (0.0, 1.0, 10)
    assert weak["level 2"].high is not None
    assert weak["level 2"].high < 0.5


def test_what_differs_by_chance_alone_is_not_weak() -> None:
    """Eight tools at random: Holm's bounds hold the wrong alarms of all of them together."""
    alarms = 0
    for seed in range(8):
        ones = [
            played(at, hash((seed * 977 + at * 131) % 1009) % 2 == 0, tools=frozenset({f"tool_{at % 8}"}))
            for at in range(48)
        ]
        alarms += any(one.is_weak for one in weak_spots(ones, WeaknessTest(), seed=seed))
    assert alarms <= 1


def test_a_spot_of_too_few_scenarios_is_not_judged() -> None:
    ones = [played(at, at > 2, level=1 + (at <= 2)) for at in range(20)]
    assert weak_spots(ones, WeaknessTest(least=4)) == []
    assert [one.label for one in weak_spots(ones, WeaknessTest(least=3))] == ["level 2", "level 1"]


def test_the_chance_of_a_difference_is_that_of_dealing_the_rates_anew() -> None:
    assert lower_by_chance([0.5, 0.5], [0.5] * 4) == 1.0
    exact = 1 / 70  # of the 70 ways to choose 4 of 8, one has all failures
    assert lower_by_chance([0.0] * 4, [1.0] * 4) == pytest.approx(exact, abs=0.006)


def spot(kind: Any, name: str, environment: str = "") -> WeakSpot:
    return WeakSpot(
        kind=kind, environment=environment, name=name, scenarios=9, success=0.1, low=0.0, high=0.3, others=0.9, p=0.001
    )


def test_each_spot_is_made_for_by_its_own_options_and_no_two_orders_share_a_seed(tmp_path: Path) -> None:
    told = plan(environments=("parcel_room", "library_loans"), make={"scenarios": 10}, weak={"most": 4})
    bundles = bundles_of(told)
    weak = [
        spot("tool", "send_parcel", "parcel_room"),
        spot("level", "4"),
        spot("demand", "takes all"),
        spot("perturbation", "names"),
        spot("environment", "library_loans"),
    ]
    made = [(one.environment, one.options, one.n) for one in orders_of(told, bundles, 0, weak)]
    assert made == [
        ("parcel_room", ("--tool", "send_parcel"), 3),
        ("parcel_room", ("--level", "4"), 2),
        ("library_loans", ("--level", "4"), 1),
        ("parcel_room", ("--profile", "takes all"), 1),
        ("library_loans", ("--profile", "takes all"), 1),
        ("parcel_room", (), 1),
        ("library_loans", (), 1),
    ]
    seeds = [one.seed for number in range(3) for one in orders_of(told, bundles, number, weak)]
    assert len(set(seeds)) == 21
    without = dict.fromkeys(bundles, tmp_path)
    assert [one.options for one in orders_of(told, without, 0, weak[1:2])] == [(), ()], "levels come from recipes"


def test_what_has_no_certificate_or_an_id_that_is_taken_is_not_trained_on(
    scenarios: list[Scenario], tmp_path: Path
) -> None:
    held, trained, *rest = scenarios[:6]
    for part, ones in (("held-out", [held]), ("library", [trained])):
        bundle = Path(shutil.copytree(OWN_LIBRARY / "parcel_room", tmp_path / part / "parcel_room"))
        (bundle / "scenarios.jsonl").write_text(lines_of(ones))
    new = Path(shutil.copytree(tmp_path / "held-out", tmp_path / "new"))
    made = [
        rest[0].model_copy(update={"certificate": None}),
        rest[1].model_copy(update={"id": trained.id}),
        held.model_copy(update={"id": "copied"}),
        rest[2],
        rest[2].model_copy(update={"id": "twice"}),
    ]
    (new / "parcel_room" / "scenarios.jsonl").write_text(lines_of(made))
    for _ in range(2):
        accepted = accept(tmp_path, new, "parcel_room")
        assert accepted.ids == [rest[2].id]
        left = load_scenarios(load(tmp_path / "library" / "parcel_room"))
        assert [*left] == [trained.id, rest[2].id]


MISUSES: list[tuple[str, str]] = [
    ("environments = []", "environments"),
    ("agent = {kind = 'chat'}", "agent"),
    ("rounds = 0", "rounds"),
    ("rounds = 1001", "rounds"),
    ("make = {scenarios = 10001}", "make.scenarios"),
    ("held_out = {make = 10001}", "held_out.make"),
    ("nonsense = 1", "nonsense"),
    ("library = ['nowhere']", "nowhere: no such folder"),
    ("agent = {command = 'x'}", "a new model would never be played"),
    ("model = ''", "say with which one the first round begins"),
    ("held_out = {share = 1.0}", "held_out.share"),
    ("evaluation = {perturb = ['nmes']}", "nmes"),
    ("rounds = ", "is no TOML"),
]


def toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + "}"  # type: ignore[reportUnknown]
    return repr(list(value) if isinstance(value, tuple) else value)  # type: ignore[reportUnknown]


def written(folder: Path, line: str = "", **changes: Any) -> Path:
    """A plan as a file. A line takes the place of the one with its key."""
    lines = {key: f"{key} = {toml(value)}" for key, value in {**PLAN, **changes}.items()}
    if line:
        lines[line.partition(" ")[0]] = line
    path = folder / "plan.toml"
    path.write_text("\n".join(lines.values()) + "\n")
    return path


@pytest.mark.parametrize(("line", "says"), MISUSES, ids=[line for line, _ in MISUSES])
def test_a_plan_that_is_wrong_is_told_by_file_and_key(line: str, says: str, tmp_path: Path) -> None:
    path = written(tmp_path, line)
    with pytest.raises(RequestError) as told:
        load_plan(path)
    assert says in str(told.value)
    assert str(path) in str(told.value)


def test_the_suite_of_a_round_is_written_as_farm_eval_reads_it(tmp_path: Path) -> None:
    suite = plan(agent={"command": "a 'quoted' \"{model}\" ä\n"}, limits={"seconds": 7}).suite("m", "names")
    path = tmp_path / "suite.toml"
    path.write_text(as_toml(suite))
    assert read_suite(path) == suite
    assert tomllib.loads(path.read_text())["perturb"] == "names"


def test_an_environment_with_too_little_to_hold_out_is_told(shelf: str, tmp_path: Path) -> None:
    (Path(shelf) / "parcel_room" / "scenarios.jsonl").write_text("")
    with pytest.raises(RequestError, match=r"parcel_room has 0 scenarios.*held_out\.make"):
        evolve(tmp_path / "run", plan(library=(shelf,)), Steps([]))


def test_a_training_that_leaves_no_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="left no model at"):
        newest(str(tmp_path / "*"))
    (tmp_path / "name.txt").write_text("\n")
    with pytest.raises(TrainingError, match="names no model"):
        newest(str(tmp_path / "*"))
    for step in (2, 10, 9):
        (tmp_path / f"step_{step}").mkdir()
    assert newest(str(tmp_path / "step_*")) == str(tmp_path / "step_10")


def test_a_step_that_fails_is_told_with_the_last_line_of_its_log(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "step.log"
    with pytest.raises(TrainingError, match=r"step\.log says: it broke"):
        run_step(["/bin/sh", "-c", "echo first; echo it broke; exit 3"], log, lambda _: None)
    with pytest.raises(TrainingError, match="nowhere: cannot be run"):
        run_step([str(tmp_path / "nowhere")], log, lambda _: None)
    run_step(["/bin/sh", "-c", "echo well"], log, lambda _: None)


def test_a_step_that_is_broken_off_leaves_no_process(tmp_path: Path) -> None:
    def stop(line: str) -> None:
        if line == "sleeps":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_step(
            ["/bin/sh", "-c", f"sleep 600 & echo $! > {tmp_path / 'pid'}; echo sleeps; wait"],
            tmp_path / "log",
            stop,
        )
    left = processes().get(int((tmp_path / "pid").read_text()))
    assert left is None or left.is_zombie


def test_a_line_of_a_log_is_shown_literally_and_as_one_line() -> None:
    assert step_line("training", "a [bold]b[/]\n c").plain == "training: a [bold]b[/] c"
    assert step_line("training", "").plain == "training"


async def test_the_command_says_what_is_wrong_and_exits_with_2(tmp_path: Path) -> None:
    done = await farm("evolve", written(tmp_path, "rounds = 0"), "--run", tmp_path / "run", home=tmp_path)
    assert (done.code, done.out) == (2, "")
    assert "plan.toml: rounds" in done.err
    assert not (tmp_path / "run").exists()
    gone = await farm("evolve", tmp_path / "no.toml", "--run", tmp_path / "run", home=tmp_path)
    assert (gone.code, "no.toml: cannot be read" in gone.err) == (2, True)


@pytest.mark.slow
async def test_real_commands_are_killed_in_the_middle_and_the_next_start_goes_on(shelf: str, tmp_path: Path) -> None:
    told: dict[str, Any] = {
        "library": [shelf],
        "model": "idle",
        "agent": {"kind": "{model}"},
        "train": {"command": "sleep 1; ls {new}/*; echo gold > {out}/name.txt", "model": "{out}/name.txt"},
        "rounds": 1,
        "make": {"scenarios": 2},
    }
    command = ("evolve", written(tmp_path, **told), "--run", tmp_path / "run")
    for name in ("round-0/eval-0/rollouts.jsonl", "round-0/new/parcel_room", "round-0/train"):
        begun, one = tmp_path / "run" / name, await started(*command, home=tmp_path)
        await until(lambda one=one, begun=begun: begun.exists() or not one.runs, f"{begun} is there")
        one.send(signal.SIGKILL)
        await one.ended()
        await until(lambda: not works_in(tmp_path / "run"), "its steps have ended too")
    done = await farm(*command, home=tmp_path)
    assert (done.code, "round 1: 100%" in done.out) == (0, True), done
    record = EvolutionRecord.read(tmp_path / "run")
    assert record is not None
    assert [one.model for one in record.rounds] == ["idle", "gold"]
    assert sum(one.made for one in record.rounds[0].made or ()) == 2


def works_in(run: Path) -> bool:
    return any(str(run) in one.command for one in processes().values() if not one.is_zombie)
