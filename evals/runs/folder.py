"""The folder of a run. It grows while rollouts end, and a last line that a kill cut short is removed."""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from evals.runs.records import Header, RolloutRecord, Subject
from evals.runs.suite import Suite
from servers.errors import RequestError
from servers.files.atomic_write import write_whole
from servers.files.file_lock import locked
from servers.files.private_files import regular
from servers.files.trouble import naming, trouble
from servers.text.wording import counted
from servers.validation import first_problem

DELETE_LINE = "; delete this line, and `farm eval` plays its rollout again"
HEADER, SUBJECTS, ROLLOUTS, LOCK = "run.json", "scenarios.jsonl", "rollouts.jsonl", "lock"
LARGEST_HEADER = 16 * 1024 * 1024
"""Bytes of a run's header, which holds the suite."""
LARGEST_LINE = 256 * 1024 * 1024
"""Bytes of one rollout or scenario of a run: a line is read at once."""
MOST_NAMED = 5
"""The runs in a folder that a message names."""
Line = TypeVar("Line", bound=BaseModel)


class RolloutPosition(NamedTuple):
    """A rollout, with the offset and length of its line in the file."""

    offset: int
    length: int
    played: RolloutRecord


class RunFolder:
    """A run on disk. Anybody may read it. A writer holds its lock (`writing`)."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.torn = 0
        """Bytes after the last whole line, as of the last read."""

    @property
    def is_begun(self) -> bool:
        return os.path.lexists(self.path / HEADER)

    def _runs_inside(self) -> str:
        """What to do with a folder that is no run: the runs that lie in it, if there are any."""
        inside = sorted(header.parent for header in self.path.glob(f"*/{HEADER}"))
        if not inside:
            return "`farm eval SUITE --out` makes one"
        names = ", ".join(map(str, inside[:MOST_NAMED])) + (", …" if len(inside) > MOST_NAMED else "")
        return f"it holds {counted(len(inside), 'run')}: {names}"

    def check_suite(self, suite: Suite) -> None:
        """Check that the folder holds nothing, or a run of this suite. Raises RequestError."""
        if self.is_begun and self.header().suite_digest != suite.digest:
            raise RequestError(f"{self.path}: holds a run of another suite; choose another folder for this one")

    def header(self) -> Header:
        """The run's header. Raises RequestError if the folder holds no run."""
        try:
            with _opened(self.path / HEADER) as file:
                return Header.model_validate_json(_bounded(file.read(LARGEST_HEADER + 1), LARGEST_HEADER).decode())
        except (FileNotFoundError, NotADirectoryError):
            raise RequestError(f"{self.path}: not a run: it has no {HEADER}; {self._runs_inside()}") from None
        except ValidationError as error:
            raise RequestError(
                f"{self.path / HEADER}: no head of an evaluation: {first_problem(error)}; choose another folder"
            ) from None
        except (OSError, ValueError) as error:
            raise RequestError(f"{self.path / HEADER}: cannot be read: {trouble(error)}") from None

    def subjects(self) -> dict[str, Subject]:
        """The scenarios, by `environment/scenario`."""
        return {subject.name: subject for _, _, subject in self.placed_subjects()}

    def placed_subjects(self) -> Iterator[tuple[int, int, Subject]]:
        """Each scenario in turn, with the offset and length of its line. Raises RequestError."""
        path = self.path / SUBJECTS
        if not os.path.lexists(path):
            raise RequestError(f"{path}: the file is missing, so the run is damaged; play it again in another folder")
        return _records(path, Subject)

    def subject_at(self, offset: int, length: int) -> Subject:
        """Read one scenario again."""
        with _opened(self.path / SUBJECTS) as file:
            file.seek(offset)
            return Subject.model_validate_json(file.read(length))

    def rollouts(self, begin: int = 0) -> Iterator[RolloutPosition]:
        """Each line in turn, from a byte where a line begins. A last line that was cut short is skipped.

        It is counted in `torn`. A rollout that was played again after it had broken is there twice, and the later line
        counts. Raises RequestError, with the line number, for any other unreadable line.
        """
        path = self.path / ROLLOUTS
        self.torn = _torn(path)
        for offset, length, played in _records(path, RolloutRecord, begin=begin, without_last=self.torn):
            yield RolloutPosition(offset, length, played)

    def rollout_at(self, offset: int, length: int) -> RolloutRecord:
        """Read one rollout again."""
        with _opened(self.path / ROLLOUTS) as file:
            file.seek(offset)
            return RolloutRecord.model_validate_json(file.read(length))

    def begin(self, header: Header, subjects: Sequence[Subject]) -> None:
        """Write header and scenarios before the first rollout. The header comes last: it marks completeness."""
        write_whole(self.path / SUBJECTS, "".join(f"{subject.model_dump_json()}\n" for subject in subjects))
        write_whole(self.path / HEADER, header.model_dump_json(indent=2) + "\n")

    def mend(self) -> int:
        """Remove a last line that is incomplete. Returns the number of bytes removed."""
        path = self.path / ROLLOUTS
        torn = _torn(path)
        if torn:
            with os.fdopen(regular(path, os.O_RDWR), "r+b", buffering=0) as file:
                file.truncate(file.seek(0, os.SEEK_END) - torn)
        return torn

    def append(self, played: RolloutRecord) -> None:
        """Append a line in one write. A kill can leave at most one incomplete line."""
        line = (played.model_dump_json() + "\n").encode()
        try:
            handle = regular(self.path / ROLLOUTS, os.O_WRONLY | os.O_APPEND | os.O_CREAT, mode=0o666)
            with naming(self.path / ROLLOUTS), os.fdopen(handle, "ab", buffering=0) as file:
                if file.write(line) < len(line):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except ValueError as error:
            raise RequestError(f"{self.path / ROLLOUTS}: cannot be written: {error}") from None

    def writing(self) -> AbstractContextManager[None]:
        """Lock the folder for writing. Entering it raises RequestError if another process writes.

        Raises:
            RequestError: it is a file.
        """
        if self.path.is_file():
            raise RequestError(f"{self.path}: is a file, and a run is a folder; choose another name")
        return locked(
            self.path / LOCK,
            unusable=lambda why: RequestError(f"{self.path}: cannot be written: {why}"),
            taken=lambda holder: RequestError(
                f"{self.path}: another evaluation writes into it (process {holder}); choose another folder"
            ),
        )


def _records(path: Path, kind: type[Line], *, begin: int = 0, without_last: int = 0) -> Iterator[tuple[int, int, Line]]:
    """Each line of a file with its offset and length."""
    try:
        with _opened(path) as file:
            end, offset, number = os.fstat(file.fileno()).st_size - without_last, file.seek(begin), 0
            while offset < end:
                number += 1
                line = _bounded(file.readline(LARGEST_LINE + 1), LARGEST_LINE)
                try:
                    yield offset, len(line), kind.model_validate_json(line)
                except ValidationError as error:
                    after = f" after byte {begin:,}" if begin else ""
                    advice = DELETE_LINE if kind is RolloutRecord else ""
                    raise RequestError(f"{path}: line {number}{after}: {first_problem(error)}{advice}") from None
                offset += len(line)
    except FileNotFoundError:
        return
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None


def _torn(path: Path) -> int:
    """The number of bytes after the last line break."""
    try:
        with _opened(path) as file:
            size = end = file.seek(0, os.SEEK_END)
            while end:
                begin = max(0, end - 65_536)
                file.seek(begin)
                at = file.read(end - begin).rfind(b"\n")
                if at >= 0:
                    return size - (begin + at + 1)
                end = begin
            return size
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as error:
        raise RequestError(f"{path}: cannot be read: {trouble(error)}") from None


def _opened(path: Path) -> BufferedReader:
    """A file of a run, to be read. Raises OSError, and ValueError for a pipe or a device: neither is waited for."""
    return os.fdopen(regular(path, os.O_RDONLY), "rb")


def _bounded(part: bytes, largest: int) -> bytes:
    if len(part) > largest:
        raise ValueError(f"larger than {largest // 1024 // 1024} MiB")
    return part
