"""Spans and measurements of sessions, made from their events, and their export with OpenTelemetry."""
