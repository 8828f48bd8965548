"""Whatever an error of untrusted code holds, it is told, and the guest that tells it lives on."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import pytest_asyncio

from servers.bundle_library import Library
from servers.messages import Judge, Launch
from servers.worker.instance import Instance
from servers.worker.worker import Worker
from tests.bundles import write_bundle

ERRORS = {
    "a_long_number_is_a_refusal": "raise ToolError(10 ** 5000)",
    "a_long_number_is_a_fault": "raise ValueError(10 ** 5000)",
    "a_long_number_is_a_key": "return {}[10 ** 5000]",
    "a_deep_list_is_a_refusal": "raise ToolError(_deep())",
    "a_deep_list_is_a_fault": "raise ValueError(_deep())",
    "a_long_text_is_a_refusal": "raise ToolError('é' * 100_000_000)",
    "a_long_text_is_a_fault": "raise ValueError('é' * 100_000_000)",
    "a_text_that_is_none": "raise ValueError('\\ud800' * 100_000)",
}
TOOLS = '''
def count(db: Database) -> dict:
    """Count."""
    return {"things": len(db.all("SELECT id FROM things"))}


def _deep() -> list[Any]:
    deep: list[Any] = []
    for _ in range(200_000):
        deep = [deep]
    return deep
''' + "".join(f'\n\ndef {name}(db: Database) -> dict:\n    """Raise."""\n    {line}\n' for name, line in ERRORS.items())
LONG_ANSWER = "é" * 400_000
BEGINS = "def check(start, final, answer, calls):\n    "


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def worker(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Worker]:
    home: Path = tmp_path_factory.mktemp("errors")
    await write_bundle(home / "library" / "odd", tools=TOOLS, scenarios=())
    async with Worker(Library([home / "library"]), home / "state") as worker:
        yield worker


@pytest_asyncio.fixture(loop_scope="module")
async def instance(worker: Worker) -> Instance:
    [ticket] = await worker.launch(Launch(environment="odd"))
    return worker.find(ticket.instance)


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize("tool", ERRORS)
async def test_no_error_of_a_tool_ends_the_guest_that_tells_it(worker: Worker, instance: Instance, tool: str) -> None:
    await instance.call("count", {})
    before = dict(worker.guests.deaths)
    outcome = await instance.call(tool, {})
    assert outcome.kind == ("refused" if "refusal" in tool else "failed")
    assert outcome.text
    assert (await instance.call("count", {})).structured == {"things": 3}
    assert worker.guests.deaths == before


@pytest.mark.asyncio(loop_scope="module")
@pytest.mark.parametrize(
    ("line", "holds"),
    [("raise KeyError(10 ** 5000)", False), ("return True, answer", True), ("return False, answer", False)],
)
async def test_a_checkpoint_whose_words_cannot_be_told_is_judged(
    worker: Worker, instance: Instance, line: str, holds: bool
) -> None:
    checkpoint = {"id": "c", "role": "goal", "question": "?", "kind": "python", "python": BEGINS + line}
    order = Judge.model_validate({"checkpoints": [checkpoint], "answer": LONG_ANSWER})
    [verdict] = (await worker.judge(instance.id, order)).verdicts
    assert verdict.holds is holds
