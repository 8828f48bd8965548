"""The keys of the report page, pressed in a real browser: the next and the previous rollout, and back to the list."""

import html
import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.evals.example_report import EXAMPLE
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


@pytest.mark.slow
@pytest.mark.skipif(browser() is None, reason="needs Chromium")
def test_keys_go_through_the_rollouts(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    head, body, tail = EXAMPLE.read_text(encoding="utf-8").rpartition("</body>")
    assert body
    page.write_text(head + PRESSES + tail, encoding="utf-8")
    done = subprocess.run(
        [
            str(browser()),
            *("--headless", "--disable-gpu", "--no-sandbox", "--virtual-time-budget=5000", "--dump-dom"),
            f"--user-data-dir={tmp_path / 'profile'}",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    told = re.search(r'<pre id="told">(.*?)</pre>', done.stdout)
    assert told is not None
    found = json.loads(html.unescape(told[1]))
    first, second, third = (f"#/0/{key}" for key in found["keys"])
    assert found["seen"] == ["", first, second, third, second, second, ""]
