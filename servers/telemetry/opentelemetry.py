"""OpenTelemetry: every log event with a duration becomes a span.

A call's span holds a `guest` span, the time of the tool itself. Needs the extra `envfarm[otel]`.
"""

import logging
from typing import Any

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter

from servers.telemetry.logs import fields

NANOSECONDS = 1_000_000_000
TRACES = "/v1/traces"


class Spans(logging.Handler):
    """Sends spans to an OTLP endpoint, or to a test's exporter.

    Spans are made where the event is logged, so the span of a request that the MCP SDK has begun is their parent.
    """

    def __init__(self, endpoint: str, *, process: str, exporter: SpanExporter | None = None) -> None:
        super().__init__()
        url = endpoint if endpoint.endswith(TRACES) else endpoint.rstrip("/") + TRACES
        resource = Resource.create({"service.name": "envfarm", "service.instance.id": process})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(exporter or OTLPSpanExporter(endpoint=url, timeout=5)))
        self._tracer = self._provider.get_tracer("envfarm")

    def emit(self, record: logging.LogRecord) -> None:
        attributes = fields(record)
        seconds: Any = attributes.pop("seconds", None)
        if not isinstance(seconds, float):
            return
        end = int(record.created * NANOSECONDS)
        span = self._tracer.start_span(
            record.getMessage(), start_time=end - int(seconds * NANOSECONDS), attributes=attributes
        )
        guest_seconds: Any = attributes.get("guest_seconds")
        if isinstance(guest_seconds, float):
            inside = trace.set_span_in_context(span)
            guest = self._tracer.start_span("guest", inside, start_time=end - int(guest_seconds * NANOSECONDS))
            guest.end(end)
        if record.levelno >= logging.WARNING:
            span.set_status(trace.StatusCode.ERROR, str(attributes.get("detail", attributes.get("error", ""))))
        span.end(end)

    def close(self) -> None:
        self._provider.shutdown()
        super().close()
