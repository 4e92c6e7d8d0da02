"""Spans and measurements of sessions, derived from their events, and their export with OpenTelemetry."""
