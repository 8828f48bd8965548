"""The report page in a real browser: its keys go through the rollouts, and its charts have room for their names."""

import html
import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.evals.example_report import example_report
from tests.pictures import SECONDS, browser

PRESSES = """<script>
{
  const seen = [], keys = DATA.runs[0].rollouts.map((row) => row[KEY]).filter((one) => one in DATA.runs[0].opened);
  const press = (key, target = document.body) => {
    target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    seen.push(decodeURIComponent(location.hash));
  };
  press("ArrowRight");  // in the list it does nothing
  open_(0, keys[0]);
  press("ArrowLeft");  // there is none before the first
  press("ArrowRight");
  press("ArrowRight");
  press("ArrowLeft");
  press("ArrowRight", document.body.appendChild(document.createElement("input")));  // somebody types
  press("Escape");
  const told = JSON.stringify({ seen, keys: keys.slice(0, 3) });
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: told }));
}
</script></body>"""


NAMES = """<script>
{
  const names = ["W".repeat(40), "insurance_claims_desk_of_a_town", "short"];
  const one = forest(names.map((name) => ({ name, success: [0, 0, .2], judged: 3, scenarios: 3 })));
  const two = dumbbells(names.map((scenario) => ({ scenario, success: [0, 1] })));
  const seen = [one, two].map((chart) => {
    document.body.append(chart);
    const zero = Number(chart.querySelector("line.grid").getAttribute("x1"));
    const texts = [...chart.querySelectorAll("g > text.strong:first-of-type")];
    return texts.map((text) => [text.textContent, text.getBBox().width < zero]);
  });
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: JSON.stringify(seen) }));
}
</script></body>"""
NEEDS_BROWSER = pytest.mark.skipif(browser() is None, reason="needs Chromium")


def told_by(script: str, folder: Path) -> Any:
    """What a script says in the example report, in a real browser."""
    page = folder / "report.html"
    head, body, tail = example_report().rpartition("</body>")
    assert body
    page.write_text(head + script + tail, encoding="utf-8")
    done = subprocess.run(
        [
            str(browser()),
            *("--headless", "--disable-gpu", "--no-sandbox", "--virtual-time-budget=5000", "--dump-dom"),
            f"--user-data-dir={folder / 'profile'}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout)
    assert told is not None
    return json.loads(html.unescape(told[1]))


@pytest.mark.slow
@NEEDS_BROWSER
def test_keys_go_through_the_rollouts(tmp_path: Path) -> None:
    found = told_by(PRESSES, tmp_path)
    first, second, third = (f"#/0/{key}" for key in found["keys"])
    assert found["seen"] == ["", first, second, third, second, second, ""]


@pytest.mark.slow
@NEEDS_BROWSER
def test_a_name_beside_a_chart_ends_before_the_chart(tmp_path: Path) -> None:
    for names in told_by(NAMES, tmp_path):
        assert [fits for _, fits in names] == [True] * 3
        assert names[0][0].endswith("…")
        assert names[2][0] == "short"
