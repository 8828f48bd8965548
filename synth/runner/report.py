"""The report of a run: one HTML file that needs nothing else."""

from pathlib import Path

from servers.files.atomic_write import write_whole
from synth.page import histogram, page
from synth.pipeline.folder import SynthesisFolder
from synth.runner.summary import RunSummary

MOST_REASONS = 40
TEMPLATE = Path(__file__).with_name("report.html")


def write_report(folder: SynthesisFolder, summary: RunSummary) -> Path:
    """Write it anew; gives its path."""
    path = folder.path / "report.html"
    write_whole(path, report(summary, folder.path.resolve().name))
    return path


def report(summary: RunSummary, name: str) -> str:
    """The page."""
    return page(
        TEMPLATE,
        name=name,
        summary=summary,
        begun=len(summary.cards),
        reasons=summary.reasons.most_common(MOST_REASONS),
        more_reasons=max(0, len(summary.reasons) - MOST_REASONS),
        histograms=[histogram(*item) for item in summary.distributions.items()],
    )
