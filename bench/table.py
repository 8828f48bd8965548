"""The figures as a page for people, and as JSON for programs."""

import json
import platform
import time
from collections.abc import Iterable
from typing import Any

from bench.load import HANDSHAKE, MODERN
from bench.measuring import BARE, COPYING, FARM, FORKS, FRESH, MOST_CONNECTIONS, Latency, Row
from bench.processes import cores

DOORS = {
    "launch": "launch",
    "reset": "reset",
    "call": "call",
    "fork": f"fork into {FORKS}",
    "rewind": "rewind",
    "score": "score",
}


def page(rows: list[Row]) -> str:
    """Everything as Markdown."""
    return "\n\n".join(
        [
            f"{machine()} Load comes from processes of their own, over at most {MOST_CONNECTIONS} connections, each of"
            " which waits for its answer. Farm and bare server take turns; medians of the rounds. What counts are"
            " the ratios.",
            f"Calls a second, and µs of processor time for a call in all processes that answer it"
            f" ({MODERN} / {HANDSHAKE}):",
            _calls(rows),
            "Milliseconds, p50 (p99), one request after another; calls with all connections busy, so that waiting"
            " is in it:",
            _latencies(rows),
            "Memory of an instance that has answered a call, kB:",
            _memory(rows),
        ]
    )


def as_json(rows: list[Row]) -> str:
    """The same figures."""
    content = {"machine": machine(), "rows": [_plain(row) for row in rows]}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def machine() -> str:
    return (
        f"Measured on {time.strftime('%Y-%m-%d')}: {cores()} cores, {platform.system()} {platform.release()},"
        f" Python {platform.python_version()}."
    )


def ratio(rows: list[Row], size: int, era: str) -> float:
    """The farm's calls a second as a share of the bare server's."""
    found = {row.subject: row.per_second[era] for row in rows if row.instances == size and era in row.per_second}
    return found[FARM] / found[BARE]


def _calls(rows: list[Row]) -> str:
    lines: list[list[str]] = []
    for row in rows:
        if row.subject == FARM:
            bare = next(one for one in rows if one.subject == BARE and one.instances == row.instances)
            eras = (MODERN, HANDSHAKE)
            lines.append(
                [
                    str(row.instances),
                    " / ".join(f"{row.per_second[era]:,.0f}" for era in eras),
                    " / ".join(f"{bare.per_second[era]:,.0f}" for era in eras),
                    " / ".join(f"{ratio(rows, row.instances, era):.2f}" for era in eras),
                    " / ".join(f"{row.micros[era]:,.0f}" for era in eras),
                    " / ".join(f"{bare.micros[era]:,.0f}" for era in eras),
                ]
            )
    table = table_of(["instances", FARM, BARE, "ratio", f"{FARM}, µs", f"{BARE}, µs"], lines)
    others = [
        f"{row.subject} ({row.instances} instance{'s' if row.instances > 1 else ''}, no MCP): "
        f"{row.per_second['']:,.0f} calls a second, {row.micros['']:,.0f} µs"
        for row in rows
        if row.subject in (FRESH, COPYING)
    ]
    return table + "\n\n" + "; ".join(others) + "."


def _latencies(rows: list[Row]) -> str:
    lines = [[row.subject, str(row.instances), *(_shown(row.latencies.get(one)) for one in DOORS)] for row in rows]
    return table_of(["", "instances", *DOORS.values()], lines)


def _shown(latency: Latency | None) -> str:
    return "" if latency is None else f"{latency.p50:.2f} ({latency.p99:.2f})"


def _memory(rows: list[Row]) -> str:
    lines = [
        [row.subject, str(row.instances), f"{row.bytes_each / 1000:,.0f}"] for row in rows if row.bytes_each is not None
    ]
    return table_of(["", "instances", "kB each"], lines)


def table_of(head: list[str], lines: Iterable[list[str]]) -> str:
    """A table as Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in [head, ["---"] * len(head), *lines])


def _plain(row: Row) -> dict[str, Any]:
    return {**row._asdict(), "latencies": {what: one._asdict() for what, one in row.latencies.items()}}
