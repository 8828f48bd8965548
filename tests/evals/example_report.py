"""The example report of the documentation, drawn by today's page of what was measured then: run it to write it anew."""

import html
import json
import re
from pathlib import Path

from evals.report.page import drawn

EXAMPLE = Path(__file__).parents[2] / "docs" / "how-to" / "example-report.html"


def example_report() -> str:
    """The page of the data that the example holds."""
    text = EXAMPLE.read_text(encoding="utf-8")
    [data] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    [title] = re.findall("<title>(.*?) – Envfarm report</title>", text)
    return drawn(html.unescape(title), json.loads(data))


if __name__ == "__main__":
    EXAMPLE.write_text(example_report(), encoding="utf-8")
