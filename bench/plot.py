"""The figures as a plot. The only module that needs matplotlib.

Run as `python -m bench.plot TABLE.json DRAWING.svg`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from bench.load import HANDSHAKE, MODERN
from bench.measuring import BARE, COPYING, FARM, FRESH

COLOURS = {FARM: "#1b6ca8", BARE: "#d1495b", FRESH: "#8d6a9f", COPYING: "#7a7a7a"}
LINES = {MODERN: "-", HANDSHAKE: "--"}


def drawn(rows: list[dict[str, Any]]) -> Figure:
    """Calls a second by instances on the left, launch and reset on the right."""
    figure = Figure(figsize=(11, 4.2), layout="constrained")
    calls, doors = figure.subplots(1, 2, width_ratios=[3, 2])
    for subject, colour in COLOURS.items():
        mine = [row for row in rows if row["subject"] == subject]
        for era in mine[0]["per_second"]:
            sizes, speeds = [row["instances"] for row in mine], [row["per_second"][era] for row in mine]
            label = f"{subject.replace('`', '')} {era}".strip()
            calls.plot(sizes, speeds, LINES.get(era, "none"), marker="o", color=colour, label=label)
    calls.set(xscale="log", yscale="log", xlabel="instances", ylabel="calls a second")
    calls.legend(fontsize="small")
    calls.grid(visible=True, alpha=0.3)
    bars: list[tuple[str, float, str]] = []
    for subject in (FARM, FRESH, COPYING):
        row = next(row for row in reversed(rows) if row["subject"] == subject)
        bars += [
            (f"{what}, {subject}", row["latencies"][what]["p50"], COLOURS[subject])
            for what in ("launch", "reset")
            if what in row["latencies"]
        ]
    names, values, colours = zip(*sorted(bars, reverse=True), strict=True)
    doors.barh(names, values, color=colours)
    doors.set(xscale="log", xlabel="milliseconds (median)")
    doors.grid(visible=True, axis="x", alpha=0.3)
    return figure


if __name__ == "__main__":
    mpl.rcParams["svg.hashsalt"] = "envfarm"
    content = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    drawn(content["rows"]).savefig(sys.argv[2])  # pyright: ignore[reportUnknownMemberType]
