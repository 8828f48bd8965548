"""What a report's script draws from JSON: no character of a stranger's text is obeyed by a browser."""

import shutil
import subprocess
from pathlib import Path

import pytest

from registry.web.assets import asset_text, report_parts

PAGE = """
const parts = [];
const kept = (one) => parts.push(one);
const made = () => ({ append: kept, setAttribute: (_name, value) => kept(value) });
globalThis.document = { createElement: made, createElementNS: made };
globalThis.Node = class {};
"""
ODD = '"\\u202eevil\\x9b\\ufeff\\ud800 fine\\n"'


SHOWN = r'"\\u202eevil\\x9b\\ufeff\\ud800 fine\n"'
pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="needs node")


def told_by(script: Path, text: str) -> str:
    """What a script writes in Node.js."""
    script.write_text(text)
    return subprocess.run(["node", script], capture_output=True, text=True, timeout=30, check=True).stdout


def test_a_text_is_drawn_with_the_numbers_of_what_would_be_obeyed(tmp_path: Path) -> None:
    drawing = report_parts().split("const percent =")[0]
    drawn = f"h('p', {{ title: {ODD} }}, {ODD}); process.stdout.write(JSON.stringify(parts));"
    assert told_by(tmp_path / "drawn.js", PAGE + drawing + drawn) == f"[{SHOWN},{SHOWN}]"


def test_the_page_of_the_api_draws_texts_in_the_same_way(tmp_path: Path) -> None:
    drawing = asset_text("api.js").split("let counter =")[0]
    assert drawing.startswith('"use strict";')
    drawn = f"element('p', {{}}, [{ODD}, null]); process.stdout.write(JSON.stringify(parts));"
    assert told_by(tmp_path / "drawn.js", PAGE + drawing + drawn) == f"[{SHOWN}]"


def test_a_name_is_measured_as_it_is_drawn(tmp_path: Path) -> None:
    fitting = "function fitting(" + report_parts().split("function fitting(")[1].split("\n}\n")[0] + "\n}\n"
    ruler = "const ruler = { measureText: (text) => ({ width: text.length }) };\n"
    clean = report_parts().split("function h(")[0]
    script = f"{clean}{ruler}{fitting}process.stdout.write(fitting('\\u202e\\u202eab', 10));"
    assert told_by(tmp_path / "drawn.js", script) == "\\u202e\\u2…"
