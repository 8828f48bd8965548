"""A run on a terminal of 80 columns: nothing that counts is cut."""

import io

import pytest
from rich.console import Console

from synth.pipeline.asker import WriterExchange
from synth.pipeline.progress import Prices, RunProgress
from synth.runner.table import table

ASKED = WriterExchange(
    prompt="p", model="m", prompt_tokens=900_000, completion_tokens=99_999, cached=False, reasons=(), attempt=1
)
LONG = "blood_bank_of_a_university_hospital"


@pytest.mark.parametrize("prices", [Prices(), Prices(prompt=1.0, completion=2.0)])
def test_no_cell_is_cut_in_80_columns(prices: Prices) -> None:
    progress = RunProgress(prices)
    for name, state in ((LONG, "accepted"), ("shop", "stopped"), ("zoo", "rejected")):
        progress.stage(name, "acceptance")
        for _ in range(3):
            progress.exchange(name, ASKED)
        progress.end(name, state, "")
    drawn = io.StringIO()
    Console(file=drawn, width=80).print(table(progress))
    lines = drawn.getvalue().splitlines()
    assert max(map(len, lines)) <= 80
    assert "…" not in drawn.getvalue()
    for word in ("acceptance 3", "2,999,997", "8,999,991", "stopped", *(["9.90"] if prices.prompt else [])):
        assert word in drawn.getvalue()
    names = "".join(line[1:].split(" ")[0] for line in lines)
    assert LONG in names
