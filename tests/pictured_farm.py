"""A farm for the pictures of its pages: the library, people and agents at work, and runs of every kind.

The evaluations are of scripted agents, and the figures of the training run are made up. The synthesis run is replayed
from recorded answers, so the pages show what was asked of a model.
"""

import gzip
import json
import math
import random
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from agent_client.model import Model
from agent_client.toolbox import connect
from evals.episode import OwnAgent
from evals.report.run_shelf import found_runs
from evals.runs.folder import RunFolder
from evals.runs.players import Players
from evals.runs.records import Subject
from evals.runs.suite import ScriptedAgent, Suite
from evals.runs.suite_run import Evaluation
from registry.client import Address, FarmClient
from registry.farm import Options, running
from servers.bundle_library import OWN_LIBRARY
from synth.environments.stages import STAGES
from synth.llm.cache import Cache
from synth.pipeline.artefact import Topic
from synth.pipeline.environment_run import EnvironmentRun
from synth.pipeline.stage import Wishes
from tests.evals.run_folders import write_synthesis
from tests.evals.suite_runs import Seen
from tests.synth.environments.replay import RECORDINGS, recording

ENVIRONMENTS = ("library_loans", "car_rental_branch", "warehouse_of_an_online_shop")
SYNTHESISED = "insurance_claims_desk"
PLAYED = "renew_before_trip"
STEPS = 60
LANDSCAPE, TELEPHONE = (1280, 860), (375, 812)
PAGES = {
    "gallery": LANDSCAPE,
    "environment": LANDSCAPE,
    "tables": LANDSCAPE,
    "scenario": LANDSCAPE,
    "instances": LANDSCAPE,
    "playground": (1440, 1000),
    "state": LANDSCAPE,
    "difference": (1280, 620),
    "sql": (1280, 620),
    "runs": (1280, 620),
    "evaluation": LANDSCAPE,
    "comparison": LANDSCAPE,
    "attempt": (1440, 1000),
    "training": LANDSCAPE,
    "episodes": (1280, 620),
    "synthesis": LANDSCAPE,
    "exchanges": LANDSCAPE,
    "exchange": LANDSCAPE,
    "farm": LANDSCAPE,
    "api": (1280, 620),
    "login": (1280, 620),
    "gallery-telephone": TELEPHONE,
    "playground-telephone": TELEPHONE,
    "evaluation-telephone": TELEPHONE,
    "farm-telephone": TELEPHONE,
}
"""The pages that have pictures, and their size in CSS pixels."""


class PicturedFarm(NamedTuple):
    """The farm, and the addresses of its pages by name."""

    address: Address
    pages: dict[str, str]


@dataclass(frozen=True)
class Uneven(Players):
    """An agent that follows the reference at `share` of the scenarios, and leaves out its last change at the others."""

    share: float = 1.0

    def agent_at(self, subject: Subject) -> Model | OwnAgent:
        drawn = random.Random(subject.detail.scenario.id).random()  # noqa: S311 - a picture needs no secret
        kind = "gold" if drawn < self.share else "sabotaged" if drawn < 0.95 else "idle"
        return Players(agent=ScriptedAgent(kind=kind)).agent_at(subject)

    def person_at(self, subject: Subject) -> None:
        return None


@asynccontextmanager
async def pictured_farm(folder: Path) -> AsyncGenerator[PicturedFarm]:
    """The farm, which answers while inside. Its state and its runs are written below a folder."""
    runs = folder / "runs"
    options = Options(library=(OWN_LIBRARY,), state=folder / "state", port=0, runs=(runs,))
    async with running(options) as address, FarmClient(address.url, address.token) as client:
        await evaluate(client, runs / "eval" / "first", "agent-small", 0.45)
        await evaluate(client, runs / "eval" / "second", "agent-large", 0.8)
        write_training(runs / "rl" / "run-07")
        await synthesise(runs / "synth" / "desks")
        yield PicturedFarm(address, await staged(client, runs))


async def staged(client: FarmClient, runs: Path) -> dict[str, str]:
    """The addresses, after some play."""
    ids = {run.name: run.id for run in found_runs([runs])}
    first, second, training, synthesis = (
        ids[name] for name in ("eval/first", "eval/second", "rl/run-07", "synth/desks")
    )
    played = [one.played for one in RunFolder(runs / "eval" / "second").rollouts()]
    rollout = next(one for one in played if one.rollout.reward is not None and 0 < one.rollout.reward < 1)
    [lease] = await client.launch("library_loans", PLAYED)
    async with connect(*lease.address()) as toolbox:
        await toolbox.call("find_members", {"name": "Ada Lindqvist"})
        await toolbox.call("find_loans", {"member_id": "mem_ada", "status": "open"})
        await toolbox.call("renew_loan", {"loan_id": "loan_0025"})
    await client.score(lease.instance, "It is renewed.\nAnswer: Dune; 8 April")
    for environment in ("car_rental_branch", "food_bank_of_a_city", "warehouse_of_an_online_shop"):
        await client.launch(environment, count=3)
    own = f"/instances/{lease.instance}"
    pages = {
        "gallery": "/",
        "environment": "/environments/library_loans",
        "tables": "/environments/library_loans#tables",
        "scenario": f"/environments/library_loans/scenarios/{PLAYED}",
        "instances": "/instances",
        "playground": f"{own}?tool=renew_loan",
        "state": f"{own}/state?table=loans",
        "difference": f"{own}/diff",
        "sql": f"{own}/sql",
        "runs": "/runs",
        "evaluation": f"/runs/show?run={second}",
        "comparison": f"/runs/show?run={first}&run={second}",
        "attempt": f"/runs/show?run={second}#/0/{quote(rollout.key, safe='')}",
        "training": f"/runs/training/{training}",
        "episodes": f"/runs/training/{training}/episodes/{STEPS}",
        "synthesis": f"/runs/synthesis/{synthesis}",
        "exchanges": f"/runs/synthesis/{synthesis}/{SYNTHESISED}",
        "exchange": f"/runs/synthesis/{synthesis}/{SYNTHESISED}/2",
        "farm": "/farm",
        "api": "/v1/docs",
        "login": "/login?code=1.2.3",
    }
    return {name: pages[name.removesuffix("-telephone")] for name in PAGES}


async def evaluate(client: FarmClient, folder: Path, name: str, share: float) -> None:
    """Play a suite of some environments with an agent of this name."""
    agent = ScriptedAgent(kind="sabotaged")
    told = Suite.model_validate(
        {
            "name": f"Three desks, {name}",
            "agent": {"kind": "command", "command": "a scripted agent", "name": name},
            "scenarios": {"environments": ENVIRONMENTS, "sample": 40, "seed": 3},
            "run": {"concurrency": 4, "attempts": 2},
        }
    )
    run = RunFolder(folder)
    with run.writing():
        await Evaluation(client, told, Uneven(agent=agent, share=share), run, Seen()).run()


def write_training(folder: Path) -> None:
    """A trainer's log of some steps, and the episodes of the last one. The figures are made up."""
    (folder / "episodes").mkdir(parents=True)
    dice = random.Random(7)  # noqa: S311 - a picture needs no secret
    lines: list[str] = []
    for step in range(STEPS + 1):
        share = 0.18 + 0.55 * (1 - math.exp(-step / 22))
        figures = {
            "critic/rewards/mean": share + dice.gauss(0, 0.03),
            "actor/entropy": 0.9 * math.exp(-step / 45) + dice.gauss(0, 0.02),
            "response_length/mean": 900 + 14 * step + dice.gauss(0, 40),
            "actor/pg_loss": dice.gauss(0, 0.02),
            "turns/mean": 9 - step / 20 + dice.gauss(0, 0.2),
        }
        if step % 10 == 0:
            figures["val-core/held_out/reward/mean@1"] = share - 0.06 + dice.gauss(0, 0.015)
        lines.append(json.dumps({"step": step, "data": figures}))
    (folder / "metrics.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    for step in (20, 40, STEPS):
        told = [
            {
                "input": "You work at the desk of a library.\n\nRenew Ada Lindqvist's loan of Dune before her trip.",
                "output": f"find_members(name='Ada')\n→ mem_ada\nrenew_loan(loan_id='loan_{at:04}')\n→ renewed",
                "score": [1.0, 0.5, 0.0][at % 3],
                "step": step,
            }
            for at in range(12)
        ]
        text = "".join(json.dumps(one) + "\n" for one in told)
        (folder / "episodes" / f"{step}.jsonl").write_text(text, encoding="utf-8")


async def synthesise(folder: Path) -> None:
    """A run with a recorded environment, before its proof, and one that was given up."""
    write_synthesis(folder)
    cache = Cache(folder / "cache")
    with gzip.open(RECORDINGS / f"{SYNTHESISED}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            exchange = json.loads(line)
            cache.keep(exchange["request"], exchange["response"])
    own = folder / "environments" / SYNTHESISED
    made = EnvironmentRun(SYNTHESISED, own, STAGES[:-1], recording(SYNTHESISED), Wishes())
    made.begin(Topic(title="Insurance claims desk"))
    await made.advance()
