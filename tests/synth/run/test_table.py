"""A run on a terminal of 80 columns: nothing that counts is cut."""

import io

import pytest
from rich.console import Console

from servers.text.terminal import Terminal
from synth.pipeline.asker import WriterExchange
from synth.pipeline.progress import Prices, RunProgress
from synth.runner.table import live, table

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


def test_a_terminal_too_has_a_line_for_each_stage_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TTY_COMPATIBLE", "1")
    drawn = io.StringIO()
    console = Terminal()
    console.file = drawn
    assert console.is_terminal
    progress = RunProgress()
    with live(console, progress):
        progress.stage("shop", "tables")
        progress.exchange("shop", ASKED)
        progress.end("shop", "rejected", "tables: [red]none")
    assert "shop: tables begins\n" in drawn.getvalue()
    assert "shop: rejected: tables: [red]none (1 request, 0 answers refused, 999,999 tokens)\n" in drawn.getvalue()
