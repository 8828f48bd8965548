"""The suite as npm gives it: installed into a folder, run against a URL, its results read back."""

import json
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.conformance.process import RunError, output

PACKAGES = Path(__file__).parent / "package.json"
LONGEST_INSTALL, LONGEST_RUN = 300.0, 120.0
LISTED = re.compile(r"^ +- ([\w-]+) \[(.+)\]$", re.MULTILINE)
RESULTS = re.compile(r"server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+")


class Check(NamedTuple):
    """One thing that a scenario looked at: SUCCESS, FAILURE, WARNING, SKIPPED or INFO."""

    id: str
    status: str
    message: str = ""


@dataclass(frozen=True)
class Suite:
    """The suite in a folder that holds its node_modules."""

    folder: Path

    async def install(self) -> None:
        """Install the versions that package.json names, unless they are there.

        Raises:
            RunError: npm failed.
        """
        mark = self.folder / "node_modules" / ".installed"
        wanted = PACKAGES.read_text(encoding="utf-8")
        if mark.is_file() and mark.read_text(encoding="utf-8") == wanted:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGES, self.folder)
        quietly = ("--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error")
        await output("npm", "install", *quietly, folder=self.folder, seconds=LONGEST_INSTALL)
        mark.write_text(wanted, encoding="utf-8")

    async def scenarios(self, revision: str) -> set[str]:
        """The names of a revision's scenarios, without those of protocol extensions."""
        said = await self._run("list", "--server", "--spec-version", revision)
        names = {name for name, eras in LISTED.findall(said) if revision in eras.split(",")}
        if not names:
            raise RunError(f"no scenario of {revision} is listed; the suite said: {said[-500:]}")
        return names

    async def results(self, url: str, revision: str, folder: Path) -> dict[str, list[Check]]:
        """Run all scenarios of a revision against a server, and give the checks of each by its name.

        Raises:
            RunError: the suite left nothing in the folder.
        """
        of_revision = ("--suite", "all", "--spec-version", revision)
        said = await self._run("server", "--url", url, *of_revision, "-o", str(folder), may_fail=True)
        found = _read(folder)
        if not found:
            raise RunError(f"the suite left no results; it said: {said[-500:]}")
        return found

    async def _run(self, *arguments: str, may_fail: bool = False) -> str:
        modules = self.folder / "node_modules"
        script = modules / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
        node = str(modules / ".bin" / "node")
        return await output(node, str(script), *arguments, folder=self.folder, seconds=LONGEST_RUN, may_fail=may_fail)


def _read(folder: Path) -> dict[str, list[Check]]:
    return {
        found[1]: [_check(check) for check in json.loads(path.read_text(encoding="utf-8"))]
        for path in folder.glob("*/checks.json")
        if (found := RESULTS.fullmatch(path.parent.name))
    }


def _check(check: dict[str, str]) -> Check:
    return Check(check["id"], check["status"], check.get("errorMessage", ""))
