"""Folders of runs for tests: an evaluation, a training run, and a synthesis run that was given up."""

import json
from pathlib import Path
from typing import Any

from evals.runs.folder import RunFolder
from registry.client import FarmClient
from synth.llm.cache import Cache
from synth.llm.exchange import sent
from synth.llm.writer import WriterMessage, prompt_digest
from synth.pipeline.artefact import Artefact, write_artefact
from synth.pipeline.asker import WriterExchange
from synth.pipeline.environment_run import Rejection
from tests.evals.suite_runs import evaluated, suite

STEPS = [
    {"step": 0, "data": {"val-core/shop/reward/mean@1": 0.25}},
    {"step": 1, "data": {"critic/rewards/mean": 0.5, "actor/entropy": 1.5}},
    {"step": 2, "data": {"critic/rewards/mean": 0.75, "val-core/shop/reward/mean@1": 0.5, "actor/entropy": None}},
]


async def write_evaluation(farm: FarmClient, folder: Path, agent: str = "gold", **changes: Any) -> RunFolder:
    """A run of both scenarios of the small bundle, two attempts each."""
    told = suite(agent={"kind": agent}, run={"concurrency": 2, "attempts": 2}, **changes)
    await evaluated(farm, folder, told)
    return RunFolder(folder)


def write_training(folder: Path, text: str = "the bell") -> Path:
    """A trainer's log of three steps, and the episodes of the first."""
    (folder / "episodes").mkdir(parents=True)
    (folder / "metrics.jsonl").write_text("".join(json.dumps(one) + "\n" for one in STEPS), encoding="utf-8")
    episodes = [{"input": f"sell {text}", "output": f"sold {text}", "score": score, "step": 1} for score in (1.0, 0.0)]
    lines = "".join(json.dumps(one) + "\n" for one in episodes)
    (folder / "episodes" / "1.jsonl").write_text(lines, encoding="utf-8")
    return folder


QUESTION = (
    WriterMessage(role="system", content="Design the tables."),
    WriterMessage(role="user", content="# A bank of blood"),
)
SCHEMA = {"title": "Schema", "type": "object"}


def write_synthesis(folder: Path, title: str = "Blood bank", reason: str = "no table has a key") -> Path:
    """A run with one environment, which was given up at its first stage. Its cache has what was asked and answered."""
    own = folder / "environments" / "blood_bank"
    own.mkdir(parents=True)
    (folder / "run.json").write_text(json.dumps({"began_at": "", "plan": {"prompt_price": 2.0}}), encoding="utf-8")
    topic = Artefact(
        stage="topic",
        version="1",
        code="",
        environment="blood_bank",
        made_at="",
        models=(),
        exchanges=(),
        files={},
        after="",
        turn=0,
        value={"title": title},
    )
    write_artefact(own / "00-topic.json", topic)
    asked = WriterExchange(
        prompt=prompt_digest(QUESTION, SCHEMA),
        model="writer",
        prompt_tokens=1000,
        completion_tokens=10,
        cached=False,
        reasons=(reason,),
        attempt=1,
    )
    answer = {"role": "assistant", "content": json.dumps({"schema_sql": f"CREATE TABLE {reason}", "rules": [title]})}
    response = {"model": "writer", "choices": [{"message": answer, "finish_reason": "stop"}]}
    Cache(folder / "cache").keep({"model": "w", "messages": sent(QUESTION, SCHEMA)}, response)
    rejection = Rejection(stage="schema", reasons=(reason,), exchanges=(asked,))
    (own / "rejected.json").write_text(rejection.model_dump_json(), encoding="utf-8")
    return folder


def write_exchanges(bundle: Path) -> None:
    """Two exchanges that made a bundle. A run of `write_synthesis` has the words of the first."""
    known = {"stage": "schema", "prompt": prompt_digest(QUESTION, SCHEMA), "model": "writer", "prompt_tokens": 1000}
    lost = {"stage": "seed", "prompt": "0" * 64, "model": "writer", "reasons": ["a row has no key"]}
    (bundle / "exchanges.json").write_text(json.dumps([known, lost]), encoding="utf-8")
