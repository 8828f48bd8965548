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
PERTURBED = """<script>
{
  const run = DATA.runs[0], text = () => overview(0).textContent;
  const before = text();
  run.suite.perturb = "names,order";
  run.left_out = ["shop/half"];
  const asked = { environment: "shop", probe: "who_was_told", question: "Was <b>Ada</b> told?" };
  run.probes = [{ ...asked, scenarios: 2, rollouts: 8, holds: [.25, .1, .5] }];
  const told = JSON.stringify([before, text()]);
  document.body.append(Object.assign(document.createElement("pre"), { id: "told", textContent: told }));
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


@pytest.mark.slow
@NEEDS_BROWSER
def test_a_perturbed_run_says_so_and_probes_have_a_table(tmp_path: Path) -> None:
    before, told = told_by(PERTURBED, tmp_path)
    assert not re.search("perturbed|Probes|left out", before)
    assert "perturbed names,order" in told
    assert "1 scenario is left out. Their reference solution earns less on the perturbed tools." in told
    assert "Was <b>Ada</b> told?shop · who_was_told25.0  [10.0 – 50.0]82" in told
