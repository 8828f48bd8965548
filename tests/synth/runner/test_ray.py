"""A run whose environments advance in processes of a Ray cluster. Needs the extra [scale]."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.synth.pipeline.model import Model
from tests.synth.pipeline.tiny_process import started, values

pytest.importorskip("ray", exc_type=ImportError)
pytestmark = [pytest.mark.ray, pytest.mark.slow]


async def test_environments_advance_elsewhere_as_they_do_here(tmp_path: Path) -> None:
    model = Model()
    topics = ["Loans", "Hotels", "Museums"]
    async with model.serve() as base_url:
        plan: dict[str, Any] = {"topics": topics, "base_url": base_url, "engine": "ray", "prompt_price": 100.0}
        done = await (await started(tmp_path, "tests.synth.runner.tiny_ray", **plan)).ended()
        assert done.code == 0, done.err
        assert "3 accepted, 0 rejected; 15 requests, 0 answers from the cache, 150 + 75 tokens" in done.out
        assert len(model.requests) == 15
        assert values(tmp_path)["museums/01-tables.json"] == {"names": ["museums_a", "museums_b"]}
        assert {path.name for path in (tmp_path / "run/library").iterdir()} == {"hotels", "loans", "museums"}
        done = await (await started(tmp_path, "tests.synth.runner.tiny_ray", **plan)).ended()
    assert (done.code, len(model.requests)) == (0, 15)
    assert "key-1" not in json.dumps(json.loads((tmp_path / "run/run.json").read_text()))
