"""The files of a batch API: requests and answers.


batch-001.jsonl           requests, for a batch API or `vllm run-batch -i … -o …`
batch-001.results.jsonl   answers, a line each, in any order
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from agent_client.models.completion import Completion, LenientModel
from servers.errors import NotFound, RequestError
from servers.files.atomic_write import write_whole
from servers.files.named_file import text_named
from servers.files.trouble import trouble
from servers.records import Record
from servers.validation import first_problem

T = TypeVar("T", bound="BatchLine | Result")
RESULTS = ".results.jsonl"


class BatchLine(Record):
    """A request in a batch. Its id is the digest of its content."""

    custom_id: str
    method: str = "POST"
    url: str = "/v1/chat/completions"
    body: dict[str, Any]


class Response(LenientModel):
    """The endpoint's answer to a request."""

    status_code: int | None = None
    body: dict[str, Any] | None = None


class Result(LenientModel):
    """A line of the results."""

    custom_id: str
    response: Response | None = None
    error: Any = None

    @property
    def completion(self) -> Completion | None:
        """The answer, if the line holds one."""
        if self.error or self.response is None or self.response.status_code not in (200, None):
            return None
        try:
            return Completion.model_validate(self.response.body)
        except ValidationError:
            return None

    @property
    def trouble(self) -> str:
        """Why it has no answer."""
        said = self.error or (self.response.model_dump() if self.response else "no response")
        return json.dumps(said, ensure_ascii=False)[:300]


class AnsweredQuestion(NamedTuple):
    """A request and its line of results."""

    line: BatchLine
    result: Result


@dataclass(frozen=True)
class BatchFolder:
    """Numbered batches and their results."""

    path: Path

    def batches(self) -> list[Path]:
        """The written batches, in order."""
        return sorted(path for path in self.path.glob("batch-*.jsonl") if not path.name.endswith(RESULTS))

    def outstanding(self) -> list[Path]:
        """The batches without results."""
        return [path for path in self.batches() if not results_of(path).exists()]

    def answered(self) -> Iterator[AnsweredQuestion]:
        """Every result that belongs to a request. Raises RequestError for an invalid file."""
        lines = {line.custom_id: line for path in self.batches() for line in lines_of(path, BatchLine)}
        for path in self.batches():
            for result in lines_of(results_of(path), Result) if results_of(path).exists() else ():
                if result.custom_id in lines:
                    yield AnsweredQuestion(lines[result.custom_id], result)

    def waited_for(self) -> set[str]:
        """The ids of the requests whose batch has no results yet."""
        return {line.custom_id for path in self.outstanding() for line in lines_of(path, BatchLine)}

    def write(self, lines: Sequence[BatchLine]) -> Path:
        """Write the next batch."""
        path = self.path / f"batch-{1 + len(self.batches()):03}.jsonl"
        self.path.mkdir(parents=True, exist_ok=True)
        write_whole(path, "".join(line.model_dump_json() + "\n" for line in lines))
        return path

    def adopt(self, results: Path) -> Path:
        """Move a file of results to its batch. Raises NotFound, or RequestError if it answers none of ours."""
        answered = {result.custom_id for result in lines_of(results, Result)}
        ours = {path: len(answered & {line.custom_id for line in lines_of(path, BatchLine)}) for path in self.batches()}
        best = max(ours, key=lambda path: ours[path], default=None)
        if best is None or not ours[best]:
            raise RequestError(f"{results}: answers nothing that was asked in {self.path}")
        write_whole(results_of(best), text_named(results))
        return results_of(best)


def results_of(batch: Path) -> Path:
    """The expected path of a batch's results."""
    return batch.with_name(batch.stem + RESULTS)


def lines_of(path: Path, kind: type[T]) -> Iterator[T]:
    """The lines of a file. Raises NotFound, or RequestError with the line number."""
    try:
        text = text_named(path)
    except OSError as error:
        raise NotFound(f"{path}: cannot be read: {trouble(error)}") from None
    except UnicodeDecodeError as error:
        raise RequestError(f"{path}: {trouble(error)}") from None
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            yield kind.model_validate_json(line)
        except ValidationError as error:
            raise RequestError(f"{path}: line {number}: {first_problem(error)}") from None
