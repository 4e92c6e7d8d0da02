"""Endpoints over HTTP: requests, errors, timeouts and the framing of streams."""
