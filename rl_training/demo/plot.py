# pyright: basic
"""The curve of a demo as SVG. Run as `python -m rl_training.demo.plot RESULT.json OUT.svg`. Needs matplotlib."""

import json
import sys
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import matplotlib.pyplot as plt

from servers.files.named_file import text_named


def main(source: str, out: str) -> None:
    """Draw the plot that the command line names."""
    result: dict[str, Any] = json.loads(text_named(Path(source)))
    curves: list[dict[str, Any]] = result["curves"]
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "farm"})
    figure, axes = plt.subplots(figsize=(7, 4))
    for curve in curves:
        steps = [point["step"] for point in curve["points"]]
        axes.plot(steps, [point["reward"] for point in curve["points"]], alpha=0.4, label=f"seed {curve['seed']}")
    if len({len(curve["points"]) for curve in curves}) == 1 and len(curves) > 1:
        steps = [point["step"] for point in curves[0]["points"]]
        columns = list(zip(*([point["reward"] for point in curve["points"]] for curve in curves), strict=True))
        errors = [stdev(column) / len(column) ** 0.5 for column in columns]
        axes.errorbar(
            steps, [mean(column) for column in columns], errors, color="black", capsize=3, label="mean, standard error"
        )
    axes.axhline(result["demonstrated"], color="gray", linestyle=":", label="the demonstrations it began with")
    axes.set(xlabel="GRPO steps after the warm start", ylabel="mean reward, held-out scenarios", ylim=(0, 1))
    axes.legend(frameon=False, loc="lower right")
    figure.savefig(out, bbox_inches="tight", metadata={"Date": None})


if __name__ == "__main__":
    main(*sys.argv[1:])
