# pyright: basic
"""The curves of `bench.credit` as a picture. Needs matplotlib.

Run as `python -m bench.credit_plot RESULT.json CURVES.svg`.
"""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

COLOURS = {"GRPO": "#7a7a7a", "progress": "#1b6ca8", "branching": "#d1495b"}
AXES = {"tokens": "generated tokens", "processor": "processor seconds of training steps"}
NAMES = {"scenarios": "held-out scenarios", "level": "held-out level: two parcels"}


def drawn(result: dict[str, Any]) -> Figure:
    """A row for each thing that is held out, a column for each budget. A line is a seed."""
    figure = Figure(figsize=(11, 7), layout="constrained")
    places = figure.subplots(len(NAMES), len(AXES), sharey="row")
    for row, (name, title) in zip(places, NAMES.items(), strict=True):
        for axes, (axis, label) in zip(row, AXES.items(), strict=True):
            for arm, runs in result["runs"].items():
                for number, tests in enumerate(runs):
                    across, up = [one[axis] for one in tests], [one["rewards"][name] for one in tests]
                    axes.plot(across, up, marker="o", ms=3, color=COLOURS[arm], alpha=0.7, label="" if number else arm)
            axes.axvline(result["budgets"][axis], color="black", linestyle=":", linewidth=1)
            axes.set(xlabel=label, ylabel=f"mean reward, {title}")
            axes.grid(visible=True, alpha=0.3)
    places[0][0].legend(frameon=False)
    return figure


if __name__ == "__main__":
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "farm"})
    told = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    drawn(told).savefig(sys.argv[2], metadata={"Date": None})
