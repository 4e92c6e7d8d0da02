"""Read OpenTelemetry's standard variables. Without them, nothing is exported and the library is not imported.

The library itself reads the variables for how to export: endpoints, headers, certificates, limits, samplers.
Source: OpenTelemetry specification, "Environment Variable Specification" and "OpenTelemetry Protocol Exporter".
"""

from collections.abc import Mapping
from typing import Final, Literal

from msgspec import Struct

Signal = Literal["traces", "metrics"]
PROTOCOL: Final = "http/protobuf"
EXPORTERS: Final = frozenset({"otlp", "console"})
CONTENTS: Final = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
WITH_CONTENTS: Final = frozenset({"true", "1", "span_only", "span_and_event"})
UNKNOWN_EXPORTER: Final = (
    "Telemetry: {variable} names {value!r}, which hermes-acp does not support. "
    "It supports otlp, console and none."
)
UNKNOWN_PROTOCOL: Final = (
    "Telemetry: {variable} is {value!r}. hermes-acp only exports with http/protobuf, "
    "which collectors accept on port 4318."
)


class ExportSettings(Struct, frozen=True):
    """The exporters for each signal, whether contents are exported, and the variables with unsupported values."""

    traces: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    with_contents: bool = False
    problems: tuple[str, ...] = ()


def read_export_settings(variables: Mapping[str, str]) -> ExportSettings | None:
    """Return the export settings, or None if nothing is exported and no variable is wrong."""
    if variables.get("OTEL_SDK_DISABLED", "").strip().lower() == "true":
        return None
    problems: list[str] = []
    traces = _exporters(variables, "traces", problems)
    metrics = _exporters(variables, "metrics", problems)
    if not (traces or metrics or problems):
        return None
    with_contents = variables.get(CONTENTS, "").strip().lower() in WITH_CONTENTS
    return ExportSettings(traces, metrics, with_contents, tuple(dict.fromkeys(problems)))


def _exporters(variables: Mapping[str, str], signal: Signal, problems: list[str]) -> tuple[str, ...]:
    variable = f"OTEL_{signal.upper()}_EXPORTER"
    endpoints = ("OTEL_EXPORTER_OTLP_ENDPOINT", f"OTEL_EXPORTER_OTLP_{signal.upper()}_ENDPOINT")
    chosen = variables.get(variable, "").strip()
    if not chosen:
        chosen = "otlp" if any(variables.get(name, "").strip() for name in endpoints) else "none"
    wanted = [name.strip().lower() for name in chosen.split(",") if name.strip()]
    kept: list[str] = []
    for name in dict.fromkeys(wanted):
        if name == "none":
            continue
        if name not in EXPORTERS:
            problems.append(UNKNOWN_EXPORTER.format(variable=variable, value=name))
        elif name != "otlp" or _speaks_http(variables, signal, problems):
            kept.append(name)
    return tuple(kept)


def _speaks_http(variables: Mapping[str, str], signal: Signal, problems: list[str]) -> bool:
    for variable in (f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL"):
        if value := variables.get(variable, "").strip():
            if value.lower() != PROTOCOL:
                problems.append(UNKNOWN_PROTOCOL.format(variable=variable, value=value))
                return False
            return True
    return True
