"""A writer with delayed answers: requests are collected in a batch, and answered when its results exist.

A request is identified by the digest of its content, so an answer is found in any batch. A failed or missing one goes
into the next batch. After some failures its environment stops.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from synth.llm.batch_folder import BatchFolder, BatchLine
from synth.llm.cache import Cache
from synth.llm.endpoint import request_body
from synth.llm.exchange import Recorder, answer_in, kept, response_format
from synth.llm.writer import (
    Sampling,
    Waiting,
    WriterAnswer,
    WriterError,
    WriterMessage,
    WriterUnreachable,
    digest_of,
)

MOST_FAILURES = 3


class BatchWriter:
    """Collects requests, and answers from existing results."""

    def __init__(
        self,
        folder: BatchFolder,
        model: str,
        cache: Cache,
        *,
        base_url: str = "",
        sampling: Sampling = Sampling(),  # noqa: B008 - it does not change
        structured: bool = True,
        recorder: Recorder | None = None,
    ) -> None:
        self.folder = folder
        self._model = model
        self._cache = cache
        self._base_url = base_url
        self._sampling = sampling
        self._structured = structured
        self._recorder = recorder
        self._noted: dict[str, BatchLine] = {}
        self._failures: Counter[str] = Counter()
        self._trouble: dict[str, str] = {}
        for line, result in folder.answered():
            completion = result.completion
            if completion is None:
                self._failures[line.custom_id] += 1
                self._trouble[line.custom_id] = result.trouble
            elif cache.find(_content(line)) is None:
                cache.keep(_content(line), kept(completion))
        self._waited_for = folder.waited_for()

    async def ask(self, messages: Sequence[WriterMessage], schema: dict[str, Any], *, label: str) -> WriterAnswer:
        """Raises Waiting, WriterUnreachable, or BadAnswer."""
        request = request_body(self._model, messages, schema, self._sampling, self._base_url)
        found = self._cache.find(request)
        if found is None:
            raise self._later(request, schema, label)
        if self._recorder is not None:
            self._recorder.keep(request, kept(found))
        return answer_in(found, messages, schema, cached=True)

    def _later(self, request: dict[str, Any], schema: dict[str, Any], label: str) -> WriterError:
        name = digest_of(request)
        if name in self._waited_for:
            return Waiting(f"{label}: in a batch that has no results yet")
        if self._failures[name] >= MOST_FAILURES:
            return WriterUnreachable(f"{label}: failed in {MOST_FAILURES} batches: {self._trouble[name]}")
        wish = {"response_format": response_format(schema)} if self._structured else {}
        self._noted[name] = BatchLine(custom_id=name, body={**request, **wish})
        return Waiting(f"{label}: goes into the next batch")

    def close_batch(self) -> Path | None:
        """Write the collected requests. None if there are none."""
        if not self._noted:
            return None
        path = self.folder.write(list(self._noted.values()))
        self._waited_for |= self._noted.keys()
        self._noted = {}
        return path


def _content(line: BatchLine) -> dict[str, Any]:
    return {key: value for key, value in line.body.items() if key != "response_format"}
