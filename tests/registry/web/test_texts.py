"""Texts of strangers as HTML, tool schemas as forms, tables as a diagram."""

import re
import time
from typing import Any

import pytest

from registry.web.app import TEMPLATES
from registry.web.call_form import PREFIX, arguments_of, fields
from registry.web.policy_text import rendered
from registry.web.table_diagram import diagram
from servers.bundle.description import Tool
from servers.errors import RequestError
from servers.messages import StartTable, TableColumn

SCROLLED = re.compile(
    r'<pre[^>]*>|<[^>]*class="[^"]*\bscroll\b[^>]*>|h\("pre", \{[^}]*\}|class: "[^"]*\bscroll\b[^}]*\}'
)
POLICY = """# Rules & more

A *soft* rule, a **hard** one and `code <b>`.

1. **First.** One
   goes on.
   - nested
2. Second

| kind | limit |
|---|---|
| adult | 6 |

```
<script>alert(1)</script>
```
[a link](javascript:alert(1)) <img src=x onerror=alert(1)>
"""


def test_what_scrolls_is_reached_by_the_keyboard() -> None:
    files = [*TEMPLATES.glob("*.html"), *TEMPLATES.parent.glob("report_parts/*.js")]
    texts = "\n".join(file.read_text(encoding="utf-8") for file in files)
    found = SCROLLED.findall(texts) + SCROLLED.findall(rendered("```\ncode\n```\n"))
    assert len(found) > 10
    assert [one for one in found if "tabindex" not in one] == []


def test_a_policy_is_rendered_and_nothing_in_it_becomes_a_tag_or_a_link() -> None:
    html = rendered(POLICY)
    for part in (
        "<h3>Rules &amp; more</h3>",
        "<em>soft</em>",
        "<strong>hard</strong>",
        "<code>code &lt;b&gt;</code>",
        '<ol start="1"><li><strong>First.</strong> One goes on.<ul><li>nested</li></ul></li><li>Second</li></ol>',
        "<td>adult</td><td>6</td>",
        '<pre tabindex="0">&lt;script&gt;alert(1)&lt;/script&gt;</pre>',
        "[a link](javascript:alert(1)) &lt;img src=x onerror=alert(1)&gt;",
    ):
        assert part in html
    for wrong in ("<script", "<img", "<a ", "href"):
        assert wrong not in html


@pytest.mark.parametrize(
    "text",
    ["- " * 2000, "> " * 2000 + "x", "*" * 5000, "_a" * 5000, "`" * 3000, "#" * 9000, "1. x\n" * 6000, "|-" * 4000],
)
def test_an_odd_policy_is_rendered_too(text: str) -> None:
    assert rendered(text) is not None


def tool(**properties: dict[str, Any]) -> Tool:
    required = [name for name in properties if not name.startswith("maybe")]
    arguments = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return Tool(name="try", description="Try.", arguments=arguments, result={"type": "object"}, writes=False)


WIDE = tool(
    title={"type": "string"},
    count={"type": "integer"},
    size={"enum": ["small", 3, True]},
    is_new={"type": "boolean"},
    ids={"type": "array", "items": {"type": "string"}},
    lines={"type": "array", "items": {"type": "object"}},
    maybe={"anyOf": [{"type": "string"}, {"type": "null"}]},
    maybe_date={"type": ["string", "null"], "format": "date"},
)


@pytest.mark.parametrize(
    "line", ["-" * 50_000, " " * 50_000 + "x", "- " * 25_000 + "x", "**a" * 16_000, " _a" * 16_000, "`" * 50_000]
)
def test_a_long_line_of_a_policy_takes_no_longer_than_its_length(line: str) -> None:
    begin = time.process_time()
    rendered(f"a|b\n{line}")
    assert time.process_time() - begin < 1


def test_a_form_has_a_field_for_each_argument() -> None:
    found = {field.name: field.widget for field in fields(WIDE, {})}
    assert found == {
        "title": "text",
        "count": "number",
        "size": "choice",
        "is_new": "choice",
        "ids": "lines",
        "lines": "json",
        "maybe": "text",
        "maybe_date": "date",
    }


def test_a_filled_form_means_arguments() -> None:
    form = {"title": "", "count": "2", "size": "3", "is_new": "true", "ids": "a\r\n b \n\n", "lines": '[{"x": 1}]'}
    assert arguments_of(WIDE, {f"{PREFIX}{name}": text for name, text in form.items()}) == {
        "title": "",
        "count": 2,
        "size": 3,
        "is_new": True,
        "ids": ["a", "b"],
        "lines": [{"x": 1}],
    }


def test_what_is_no_number_is_left_to_the_check_of_the_tool_and_what_is_no_json_is_refused() -> None:
    form = {f"{PREFIX}{name}": "x" for name in WIDE.properties}
    with pytest.raises(RequestError, match="lines: is not JSON"):
        arguments_of(WIDE, form)
    assert arguments_of(WIDE, {**form, f"{PREFIX}lines": "[]"})["count"] == "x"


def table(name: str, **columns: str | None) -> StartTable:
    made = tuple(
        TableColumn(name=column, type="TEXT", key=column == "id", needed=True, references=to)
        for column, to in columns.items()
    )
    return StartTable(name=name, columns=made, rows=(), total=0)


def test_a_table_stands_right_of_those_that_it_refers_to() -> None:
    found = diagram([table("loans", id=None, book_id="books.id", self_id="loans.id"), table("books", id=None)])
    places = {box.name: box.x for box in found.tables}
    assert places["loans"] > places["books"]
    assert len(found.paths) == 2


def test_tables_in_a_circle_and_hundreds_of_them_are_drawn() -> None:
    circle = [table(f"t{at}", id=None, other=f"t{(at + 1) % 300}.id") for at in range(300)]
    found = diagram(circle)
    assert found.left_out == 240
    assert found.width > 0
    assert diagram([]).tables == []
