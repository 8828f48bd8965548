"""A PostgreSQL server of the tests' own."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import free_ports

BINARIES = Path("/usr/lib/postgresql/15/bin")
WITH_POSTGRES = pytest.mark.skipif(not BINARIES.is_dir(), reason="PostgreSQL 15 is not installed")


class Postgres:
    """A server that listens on a port of this machine. It can be stopped and started again."""

    def __init__(self, folder: Path) -> None:
        self.port = free_ports(1)
        self._folder = folder
        self._user = "nobody" if os.geteuid() == 0 else None  # it refuses to be root's
        if self._user is not None:
            os.chown(folder, pwd.getpwnam(self._user).pw_uid, -1)
        self._run("initdb", "-D", folder / "data", "-A", "trust", "-U", "farm", "--no-sync")

    def start(self) -> None:
        options = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", self._folder / "data", "-w", "-l", log, "-o", options, "start")

    def stop(self) -> None:
        self._run("pg_ctl", "-D", self._folder / "data", "-m", "immediate", "stop")

    def database(self, name: str) -> str:
        """Make a database. Returns its SQLAlchemy URL."""
        self._run("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", "farm", name)
        return f"postgresql+psycopg://farm@127.0.0.1:{self.port}/{name}"

    def _run(self, program: str, *arguments: str | Path) -> None:
        command = [str(BINARIES / program), *map(str, arguments)]
        subprocess.run(command, check=True, user=self._user, cwd=self._folder, stdout=subprocess.DEVNULL)


@contextmanager
def postgres_server() -> Generator[Postgres]:
    """A running server, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="farm-postgres-") as folder:
        server = Postgres(Path(folder))
        server.start()
        try:
            yield server
        finally:
            server.stop()
