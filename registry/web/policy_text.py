"""Markdown as HTML, for policies that a stranger may have written. All text is escaped, and nothing becomes a link.

The subset that policies use: headings, paragraphs, lists, tables, quotes, code, bold and italic.
"""

import re
from collections.abc import Iterator

from markupsafe import Markup, escape

HEADING = re.compile(r"(#{1,6})\s+(.*)")
ITEM = re.compile(r"(\s*)([-*+]|\d{1,6}[.)])\s+(.*)")
RULE = re.compile(r"\s*([-*_])(\s*\1){2,}\s*")
FENCE = re.compile(r"\s*(```|~~~)")
MARKS = (
    (re.compile(r"\*\*(?=\S)([^*\n]{1,500}?\S?)\*\*"), "strong"),
    (re.compile(r"__(?=\S)([^_\n]{1,500}?\S?)__"), "strong"),
    (re.compile(r"(?<![\w*])\*(?=\S)([^*\n]{1,500})\*(?![\w*])"), "em"),
    (re.compile(r"(?<![\w_])_(?=\S)([^_\n]{1,500})_(?![\w_])"), "em"),
)
MOST_LINES = 5000
"""Lines that are rendered. The rest follows as plain text."""
DEEPEST = 4
"""Levels of lists and quotes. Deeper ones are shown as text."""


def rendered(text: str) -> Markup:
    """A text as HTML."""
    lines = text.replace("\t", "    ").splitlines()
    parts = list(_blocks(lines[:MOST_LINES], 0))
    if len(lines) > MOST_LINES:
        parts.append(_as_it_is(lines[MOST_LINES:]))
    return Markup("\n").join(parts)


def _blocks(lines: list[str], depth: int) -> Iterator[Markup]:
    at = 0
    while at < len(lines):
        line = lines[at]
        if not line.strip():
            at += 1
            continue
        end = _end_of_block(lines, at)
        yield _block(lines[at:end], depth)
        at = end


def _end_of_block(lines: list[str], at: int) -> int:
    line = lines[at]
    if FENCE.match(line):
        return next((i + 1 for i in range(at + 1, len(lines)) if FENCE.match(lines[i])), len(lines))
    if HEADING.match(line) or RULE.fullmatch(line):
        return at + 1
    if ITEM.match(line):
        return _end_of_list(lines, at)
    end = at + 1
    while end < len(lines) and lines[end].strip() and not _begins_block(lines[end]):
        end += 1
    return end


def _end_of_list(lines: list[str], at: int) -> int:
    """A list goes on over blank lines, while what follows is an item or is indented."""
    end = at + 1
    while end < len(lines):
        line = lines[end]
        after = next((one for one in lines[end:] if one.strip()), "")
        if not line.strip() and not (ITEM.match(after) or after.startswith("  ")):
            break
        if line.strip() and _begins_block(line) and not ITEM.match(line):
            break
        end += 1
    return end


def _begins_block(line: str) -> bool:
    return bool(HEADING.match(line) or FENCE.match(line) or ITEM.match(line) or line.startswith(">"))


def _block(lines: list[str], depth: int) -> Markup:
    first = lines[0]
    if FENCE.match(first):
        body = lines[1:-1] if len(lines) > 1 and FENCE.match(lines[-1]) else lines[1:]
        return _as_it_is(body)
    heading = HEADING.match(first)
    if heading:
        level = min(len(heading[1]) + 2, 6)  # below the headings of the page
        return _tag(f"h{level}", _words(heading[2].rstrip("# ")))
    if ITEM.match(first) and not RULE.fullmatch(first):
        return _list(lines, depth)
    return _text(lines, depth)


def _text(lines: list[str], depth: int) -> Markup:
    first = lines[0]
    if RULE.fullmatch(first):
        return Markup("<hr>")
    if first.startswith(">") and depth < DEEPEST:
        inner = [line.removeprefix(">").removeprefix(" ") for line in lines]
        return _tag("blockquote", Markup("").join(_blocks(inner, depth + 1)))
    if len(lines) > 1 and "|" in first and _is_divider(lines[1]):
        return _table(lines)
    return _tag("p", _words(" ".join(line.strip() for line in lines)))


def _list(lines: list[str], depth: int) -> Markup:
    first = ITEM.match(lines[0])
    indent = len(first[1]) if first else 0
    items: list[list[str]] = []
    for line in lines:
        item = ITEM.match(line)
        if item and len(item[1]) <= indent + 1:
            items.append([item[3]])
        elif items:
            items[-1].append(line)
    numbered = first is not None and first[2][0].isdigit()
    start = first[2][:-1] if numbered and first is not None else ""
    told = Markup("").join(_item(one, depth) for one in items)
    return Markup('<ol start="{}">{}</ol>').format(start, told) if numbered else _tag("ul", told)


def _item(lines: list[str], depth: int) -> Markup:
    """An item: its first paragraph as words, and what is nested in it as blocks."""
    opening = 1
    while opening < len(lines) and lines[opening].strip() and not _begins_block(lines[opening].strip()):
        opening += 1
    words = _words(" ".join(line.strip() for line in lines[:opening]))
    rest = _outdented(lines[opening:])
    if not any(line.strip() for line in rest):
        return _tag("li", words)
    if depth >= DEEPEST:
        return _tag("li", words + _as_it_is(rest))
    return _tag("li", words + Markup("").join(_blocks(rest, depth + 1)))


def _outdented(lines: list[str]) -> list[str]:
    indents = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return [line[min(indents, default=0) :] for line in lines]


def _table(lines: list[str]) -> Markup:
    head = Markup("").join(_tag("th", _words(cell)) for cell in _cells(lines[0]))
    rows = Markup("").join(
        _tag("tr", Markup("").join(_tag("td", _words(cell)) for cell in _cells(line))) for line in lines[2:]
    )
    told = _tag("thead", _tag("tr", head)) + _tag("tbody", rows)
    return Markup('<div class="scroll" tabindex="0">') + _tag("table", told) + Markup("</div>")


def _is_divider(line: str) -> bool:
    """True for the line between the head of a table and its rows, such as `|---|:--|`."""
    return {"-", "|"} <= set(line) <= set("-|: ")  # a pattern takes the square of a long line, and holds everybody up


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _words(text: str) -> Markup:
    """Text with bold, italic and code. Code holds no other mark."""
    parts = re.split(r"`([^`\n]+)`", text)
    told = [_tag("code", escape(part)) if number % 2 else _marked(part) for number, part in enumerate(parts)]
    return Markup("").join(told)


def _marked(text: str) -> Markup:
    told = str(escape(text))
    for pattern, tag in MARKS:  # what is put in has neither stars nor underscores
        told = pattern.sub(rf"<{tag}>\1</{tag}>", told)
    return Markup(told)  # noqa: S704 - escaped above


def _as_it_is(lines: list[str]) -> Markup:
    """Lines as they are. The keyboard scrolls them, too."""
    return Markup('<pre tabindex="0">{}</pre>').format("\n".join(lines))


def _tag(name: str, inner: Markup) -> Markup:
    return Markup("<{0}>{1}</{0}>").format(Markup(name), inner)  # noqa: S704 - a name of ours
