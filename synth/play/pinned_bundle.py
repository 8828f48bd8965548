"""A bundle with the digests of its files: every process that works on it checks them.

A process reads the bundle itself, possibly on another machine. One with missing or other files knows nothing about the
bundle: that is the machine's fault, and never a finding.
"""

import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path

from servers.authoring.proof import digests_of
from servers.bundle.examples import EXAMPLES_FILE
from servers.bundle.files import SERVED_FILES, files_of
from servers.bundle.paraphrases import PARAPHRASES_FILE
from servers.bundle.rules import RULES_FILE
from servers.errors import BundleError, CheckpointError, InfraError
from synth.play.playground import Playground
from synth.processes.job import WorkerFault

PHRASES_FILE = "phrases.json"
RECIPES_FILE = "recipes.json"
PINNED_FILES = (*SERVED_FILES, RULES_FILE, EXAMPLES_FILE, PHRASES_FILE, PARAPHRASES_FILE, RECIPES_FILE)


@dataclass(frozen=True)
class PinnedBundle:
    """A bundle's folder, and the name and digest of each file that was read there."""

    folder: Path
    files: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, folder: Path) -> "PinnedBundle":
        """The bundle with its present files.

        Raises:
            BundleError: a required file cannot be read.
        """
        found = digests_of(folder, files_of(folder, PINNED_FILES))
        for name in SERVED_FILES:
            if name not in found:
                raise BundleError(f"{folder / name}: the file is missing")
        return cls(folder, tuple(found.items()))

    def require_unchanged(self) -> None:
        """Check that the files are still the pinned ones.

        Raises:
            BundleError: one cannot be read, or differs.
        """
        pinned, found = dict(self.files), dict(PinnedBundle.of(self.folder).files)
        for name in dict.fromkeys((*PINNED_FILES, *pinned, *found)):
            if pinned.get(name) != found.get(name):
                raise BundleError(f"{self.folder / name}: is not what it was when the work on this bundle began")

    @contextmanager
    def on_worker(self) -> Generator[None]:
        """Check the files before and after the work of a process.

        Raises:
            WorkerFault: they differ, or the farm failed here. The result is discarded.
        """
        try:
            self.require_unchanged()
            yield
            self.require_unchanged()
        except BundleError:
            try:
                self.require_unchanged()
            except BundleError as error:
                raise _fault(error) from None
            raise
        except (CheckpointError, WorkerFault):
            raise
        except InfraError as error:
            raise _fault(error) from None


def _fault(error: Exception) -> WorkerFault:
    return WorkerFault(f"{socket.gethostname()}: {error}")


@asynccontextmanager
async def playgrounds() -> AsyncGenerator[Callable[..., Awaitable[Playground]]]:
    """The playground of the bundle that is asked for. One is open at a time: orders come bundle by bundle.

    It is asked for with a bundle, and with another one beside which it stays open.
    """
    stack = AsyncExitStack()
    stages: dict[PinnedBundle, Playground] = {}

    async def stage_of(bundle: PinnedBundle, beside: PinnedBundle | None = None) -> Playground:
        if bundle not in stages:
            if beside is None or beside not in stages:
                await stack.aclose()
                stages.clear()
            stages[bundle] = await stack.enter_async_context(Playground(bundle.folder))
        return stages[bundle]

    try:
        yield stage_of
    finally:
        await stack.aclose()
