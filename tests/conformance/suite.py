"""The suite as npm gives it: installed into a folder, run against a URL, its results read back."""

import asyncio
import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

PACKAGES = Path(__file__).parent / "package.json"
LONGEST_INSTALL, LONGEST_RUN = 300.0, 120.0
LISTED = re.compile(r"^ +- ([\w-]+) \[(.+)\]$", re.MULTILINE)
FOLDER = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+")


class SuiteError(Exception):
    """The suite cannot be installed, or does not run as it did when this was written."""


class Check(NamedTuple):
    """One thing that a scenario looked at: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    id: str
    status: str
    message: str


@dataclass(frozen=True)
class Suite:
    """The suite in a folder that holds its node_modules."""

    folder: Path

    async def install(self) -> None:
        """Install the versions that package.json names, unless they are there.

        Raises:
            SuiteError: npm failed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        mark = self.folder / "node_modules" / ".installed"
        wanted = PACKAGES.read_text(encoding="utf-8")
        if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
            return
        if self.folder != PACKAGES.parent:
            shutil.copy(PACKAGES, self.folder)
        quietly = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
        await _output("npm", "install", *quietly, folder=self.folder, seconds=LONGEST_INSTALL)
        mark.write_text(wanted, encoding="utf-8")

    async def scenarios(self, revision: str) -> set[str]:
        """The names of the scenarios that a revision has, without those of protocol extensions."""
        said = await self._command("list", "--server", "--spec-version", revision, out=self.folder)
        names = {name for name, eras in LISTED.findall(said) if revision in eras.split(",")}
        if not names:
            raise SuiteError(f"no scenario of {revision} is listed; the suite said: {said[-500:]}")
        return names

    async def run(self, url: str, revision: str, out: Path) -> dict[str, list[Check]]:
        """Run all scenarios of a revision against a server; the checks of each, by its name."""
        of_revision = ("--suite", "all", "--spec-version", revision)
        said = await self._command("server", "--url", url, *of_revision, "-o", str(out), out=out, may_fail=True)
        results = {
            found[1]: [_check(check) for check in json.loads(path.read_text(encoding="utf-8"))]
            for path in out.glob("*/checks.json")
            if (found := FOLDER.fullmatch(path.parent.name))
        }
        if not results:
            raise SuiteError(f"the suite left no results in {out}; it said: {said[-500:]}")
        return results

    async def _command(self, *arguments: str, out: Path, may_fail: bool = False) -> str:
        modules = self.folder / "node_modules"
        script = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        node = modules / ".bin" / "node"
        return await _output(str(node), str(script), *arguments, folder=out, seconds=LONGEST_RUN, may_fail=may_fail)


def _check(check: dict[str, str]) -> Check:
    return Check(check["id"], check["status"], check.get("errorMessage", ""))


async def _output(*command: str, folder: Path, seconds: float, may_fail: bool = False) -> str:
    """What a command prints."""
    folder.mkdir(parents=True, exist_ok=True)
    pipe, both = asyncio.subprocess.PIPE, asyncio.subprocess.STDOUT
    process = await asyncio.create_subprocess_exec(*command, cwd=folder, stdout=pipe, stderr=both)
    try:
        async with asyncio.timeout(seconds):
            said = (await process.communicate())[0].decode(errors="replace")
    except TimeoutError:
        raise SuiteError(f"{' '.join(command[:3])} took more than {seconds:.0f} s") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode and not may_fail:
        raise SuiteError(f"{' '.join(command[:3])} ended with {process.returncode}: {said[-1000:]}")
    return said
