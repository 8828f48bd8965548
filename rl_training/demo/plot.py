# pyright: basic
"""The curve of a demo as a picture. Run as `python -m rl_training.demo.plot RESULT.json OUT.svg`; needs matplotlib."""

import json
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt


def main(source: str, out: str) -> None:
    """Draw what the command line names."""
    curves: list[dict[str, Any]] = json.loads(Path(source).read_text(encoding="utf-8"))["curves"]
    figure, axes = plt.subplots(figsize=(7, 4))
    for curve in curves:
        steps = [point["step"] for point in curve["points"]]
        axes.plot(steps, [point["reward"] for point in curve["points"]], alpha=0.5, label=f"seed {curve['seed']}")
    if len({len(curve["points"]) for curve in curves}) == 1:
        steps = [point["step"] for point in curves[0]["points"]]
        columns = zip(*([point["reward"] for point in curve["points"]] for curve in curves), strict=True)
        axes.plot(steps, [sum(column) / len(column) for column in columns], color="black", linewidth=2, label="mean")
    axes.set(xlabel="GRPO steps after the warm start", ylabel="mean reward, held-out scenarios", ylim=(0, 1))
    axes.legend(frameon=False)
    figure.savefig(out, bbox_inches="tight")


if __name__ == "__main__":
    main(*sys.argv[1:])
