"""Export finished spans and measurements with OpenTelemetry's library, which only this module imports.

Spans have their own IDs and times, so the library's tracer is not used, only its sampler, processor and exporter. The
latter two work in their own threads. No global provider is set.
"""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from types import MappingProxyType
from typing import Final

from msgspec import structs
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.metrics import Counter, Histogram
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import (
    ConsoleMetricExporter,
    MetricExporter,
    PeriodicExportingMetricReader,
)
from opentelemetry.sdk.resources import SERVICE_NAME, SERVICE_VERSION, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    ConsoleSpanExporter,
    SpanExporter,
    SpanExportResult,
)
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import (
    NonRecordingSpan,
    SpanContext,
    SpanKind,
    Status,
    StatusCode,
    TraceFlags,
    set_span_in_context,
)

from hermes_acp.telemetry.trace_context import SpanContext as OwnContext
from hermes_acp.telemetry.traces import conventions as names
from hermes_acp.telemetry.traces.otel_settings import ExportSettings
from hermes_acp.telemetry.traces.spans import FinishedSpan, measurements_of

KINDS: Final = MappingProxyType({"internal": SpanKind.INTERNAL, "client": SpanKind.CLIENT})
SAMPLED: Final = TraceFlags(TraceFlags.SAMPLED)
MAX_BATCH: Final = 512
MAX_BATCH_CHARACTERS: Final = 4 * 1024 * 1024
"""The size limit of texts in one request; collectors reject requests above their own limit, often 20 MiB."""
UNSET: Final = Status(StatusCode.UNSET)
FAILED: Final = Status(StatusCode.ERROR)


class OtelExport:
    """Exports spans and measurements without ever waiting for a collector."""

    def __init__(self, settings: ExportSettings, version: str, note: Callable[[str], None]) -> None:
        """Start the library's threads.

        `note` receives the library's log messages. Raises ValueError for bad variables.
        """
        _report_to(note)
        resource = _resource(version)
        self._scope = InstrumentationScope(names.AGENT, version)
        self._resource = resource
        self._sampler = TracerProvider(resource=resource, shutdown_on_exit=False).sampler
        self._decided: tuple[OwnContext | None, bool] = (None, True)
        self._spans = [BatchSpanProcessor(_span_exporter(name)) for name in settings.traces]
        self._meters = MeterProvider(
            [PeriodicExportingMetricReader(_metric_exporter(name)) for name in settings.metrics],
            resource=resource,
            shutdown_on_exit=False,
        )
        meter = self._meters.get_meter(names.AGENT, version)
        self._histograms: dict[str, Histogram] = {}
        self._counters: dict[str, Counter] = {}
        if settings.metrics:
            for name, (unit, bounds, about) in names.HISTOGRAMS.items():
                self._histograms[name] = meter.create_histogram(
                    name, unit, about, explicit_bucket_boundaries_advisory=bounds
                )
            for name, (unit, about) in names.COUNTERS.items():
                self._counters[name] = meter.create_counter(name, unit, about)

    def take(self, span: FinishedSpan) -> None:
        """Export a span and its measurements."""
        if self._histograms:
            for measurement in measurements_of(span):
                if histogram := self._histograms.get(measurement.instrument):
                    histogram.record(measurement.value, measurement.attributes)
                else:
                    self._counters[measurement.instrument].add(measurement.value, measurement.attributes)
        if self._spans and self._is_sampled(span.context, span.name):
            readable = self.readable(span)
            for processor in self._spans:
                processor.on_end(readable)

    def close(self, timeout_s: float) -> None:
        """Send the remaining data within the time limit. Blocks."""
        closing = [Thread(target=each.shutdown, daemon=True) for each in (*self._spans, self._meters)]
        for thread in closing:
            thread.start()
        ends_s = time.monotonic() + timeout_s
        for thread in closing:
            thread.join(max(0.0, ends_s - time.monotonic()))

    def _is_sampled(self, context: OwnContext, name: str) -> bool:
        """Return the sampler's decision for a trace, which is the same for all its spans."""
        known, decision = self._decided
        if known and (known.trace_id, known.is_sampled) == (context.trace_id, context.is_sampled):
            return decision
        parent = None
        if context.is_sampled is not None:
            flags = SAMPLED if context.is_sampled else TraceFlags(0)
            remote = SpanContext(context.trace_id, context.span_id, is_remote=True, trace_flags=flags)
            parent = set_span_in_context(NonRecordingSpan(remote))
        decision = self._sampler.should_sample(parent, context.trace_id, name).decision.is_sampled()
        self._decided = (context, decision)
        return decision

    def readable(self, span: FinishedSpan) -> ReadableSpan:
        """Return a span in the form that the library's exporters take."""
        return ReadableSpan(
            span.name,
            context=_otel_context(span.context, is_remote=False),
            parent=_otel_context(span.parent, is_remote=True) if span.parent else None,
            resource=self._resource,
            attributes=span.attributes,
            kind=KINDS[span.kind],
            status=FAILED if span.error else UNSET,
            start_time=span.start_ns,
            end_time=span.end_ns,
            instrumentation_scope=self._scope,
        )


def send_spans(
    settings: ExportSettings, version: str, spans: Sequence[FinishedSpan], note: Callable[[str], None]
) -> bool:
    """Send spans now and return whether all of them arrived; `note` is called with any errors. Blocks."""
    export = OtelExport(structs.replace(settings, traces=(), metrics=()), version, note)
    readable = [export.readable(span) for span in spans]
    exporters = [_span_exporter(name) for name in settings.traces]
    try:
        return all(
            exporter.export(batch) is SpanExportResult.SUCCESS
            for exporter in exporters
            for batch in batches_of(readable)
        )
    finally:
        for exporter in exporters:
            exporter.shutdown()


def batches_of(spans: Sequence[ReadableSpan]) -> Iterator[Sequence[ReadableSpan]]:
    """Yield the spans in batches within the limits; a span above the limit forms a separate batch."""
    batch: list[ReadableSpan] = []
    size = 0
    for span in spans:
        texts = (value for value in (span.attributes or {}).values() if isinstance(value, str))
        span_size = sum(map(len, texts))
        if batch and (len(batch) == MAX_BATCH or size + span_size > MAX_BATCH_CHARACTERS):
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += span_size
    if batch:
        yield batch


def _otel_context(context: OwnContext, *, is_remote: bool) -> SpanContext:
    return SpanContext(context.trace_id, context.span_id, is_remote=is_remote, trace_flags=SAMPLED)


def _resource(version: str) -> Resource:
    """Return the resource that describes this service, with defaults for what the variables do not set."""
    chosen = Resource.create()
    own: dict[str, str] = {}
    if SERVICE_VERSION not in chosen.attributes:
        own[SERVICE_VERSION] = version
    if str(chosen.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
        own[SERVICE_NAME] = names.AGENT
    return chosen.merge(Resource(own))


def _span_exporter(name: str) -> SpanExporter:
    # Standard output belongs to the protocol.
    return ConsoleSpanExporter(out=sys.stderr) if name == "console" else OTLPSpanExporter()


def _metric_exporter(name: str) -> MetricExporter:
    return ConsoleMetricExporter(out=sys.stderr) if name == "console" else OTLPMetricExporter()


class _Reporting(logging.Handler):
    """Forwards the library's log messages."""

    def __init__(self, note: Callable[[str], None]) -> None:
        super().__init__(logging.WARNING)
        self._note = note

    def emit(self, record: logging.LogRecord) -> None:
        """Pass on one message."""
        self._note(record.getMessage())


def _report_to(note: Callable[[str], None]) -> None:
    logger = logging.getLogger("opentelemetry")
    logger.handlers = [_Reporting(note)]
    logger.propagate = False
