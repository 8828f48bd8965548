"""The progress bar of every command that counts to a known number."""

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from servers.text.terminal import Terminal


def progress_on(terminal: Terminal) -> Progress:
    """A progress bar. It is shown at a terminal only, and is gone at its end."""
    return Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
    )
