"""The farm's log: one JSON object a line on standard error, with an event's name and fields.

An event never waits for the reader. A thread writes the lines, and drops and counts those that it cannot keep up with.
"""

import json
import logging
import logging.config
import os
import queue
import threading
from datetime import UTC, datetime
from typing import Any, Literal

Level = Literal["debug", "info", "warning", "error"]

STANDARD_ERROR = 2
MOST_WAITING = 10_000
SECONDS_TO_END = 1.0
LONGEST_FIELD = 2000
log = logging.getLogger("farm.logs")
OF_EVERY_LINE = ("at", "level", "process", "source", "event", "trace")
"""The names of a line that no field of an event takes."""
OF_EVERY_RECORD = {*vars(logging.makeLogRecord({})), "message", "asctime"}


def to_stderr(level: Level, *, process: str, otel: str | None = None) -> None:
    """Start logging: our events from `level` up, and warnings of libraries.

    `process` identifies a process of the farm. `otel` is an OTLP endpoint that gets spans, if OpenTelemetry is
    installed. It is often set for a whole machine, so without the extra there is only a warning.
    """
    handlers: dict[str, dict[str, Any]] = {"lines": {"()": JsonLineHandler, "level": level.upper(), "process": process}}
    if otel is not None:
        handlers["spans"] = {"()": "servers.telemetry.opentelemetry.Spans", "endpoint": otel, "process": process}
    config: dict[str, Any] = {
        "version": 1,
        "disable_existing_loggers": False,
        "handlers": handlers,
        "root": {"level": "WARNING", "handlers": list(handlers)},
        "loggers": {"farm": {"level": "DEBUG" if otel is not None else level.upper()}},
    }
    try:
        logging.config.dictConfig(config)
    except ValueError as error:
        if otel is None or not _is_about_a_missing_module(error):
            raise
        to_stderr(level, process=process)
        log.warning("no spans", extra={"detail": "they need OpenTelemetry: pip install 'envfarm[otel]'"})


def as_line(record: logging.LogRecord, process: str) -> str:
    """An event as a line of JSON."""
    line: dict[str, Any] = {
        "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
        "level": record.levelname.lower(),
        "process": process,
        "source": record.name,
        "event": record.getMessage(),
        **{f"{name}_" if name in OF_EVERY_LINE else name: _bounded(value) for name, value in fields(record).items()},
    }
    if record.exc_info:
        line["trace"] = logging.Formatter().formatException(record.exc_info)
    return json.dumps(line, default=str)


def fields(record: logging.LogRecord) -> dict[str, Any]:
    """The fields of an event, given as `extra`."""
    return {name: value for name, value in vars(record).items() if name not in OF_EVERY_RECORD and value is not None}


def _is_about_a_missing_module(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, ModuleNotFoundError):
        error = error.__cause__
    return error is not None


def _bounded(value: Any) -> Any:
    return f"{value[:LONGEST_FIELD]}…" if isinstance(value, str) and len(value) > LONGEST_FIELD else value


class JsonLineHandler(logging.Handler):
    """Writes events as lines to a file descriptor."""

    def __init__(self, *, process: str, descriptor: int = STANDARD_ERROR) -> None:
        super().__init__()
        self._process = process
        self._descriptor = descriptor
        self._waiting: queue.Queue[str | None] = queue.Queue(MOST_WAITING)
        self._left_out = 0
        self._writer = threading.Thread(target=self._write, name="log", daemon=True)
        self._writer.start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._waiting.put_nowait(as_line(record, self._process))
        except queue.Full:
            self._left_out += 1
        except Exception:  # a library's record may be anything
            self.handleError(record)

    def close(self) -> None:
        """Write pending lines, unless nobody reads them."""
        if self._writer.is_alive():
            try:
                self._waiting.put(None, timeout=SECONDS_TO_END)
            except queue.Full:
                pass
            else:
                self._writer.join(SECONDS_TO_END)
        super().close()

    def _write(self) -> None:
        told = 0
        while (line := self._waiting.get()) is not None:
            if left_out := self._left_out - told:
                line += f'\n{{"source": "farm.logs", "event": "lines left out", "count": {left_out}}}'
                told += left_out
            _write_all(self._descriptor, f"{line}\n".encode())


def _write_all(descriptor: int, text: bytes) -> None:
    """Write to a descriptor directly: the lock of `sys.stderr` could be held when the process ends."""
    try:
        while text:
            text = text[os.write(descriptor, text) :]
    except OSError:
        return  # nobody reads any more
