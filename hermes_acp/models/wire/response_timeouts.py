"""Timeouts for a silent endpoint.

A local model may be loading, or reading a long prompt at a word per second; a reasoning model may think without output.
Both get more time, especially before the first word. Keep-alive comments do not count as words.
"""

import ipaddress
from typing import Final

from msgspec import Struct

from hermes_acp.models.model_catalog import efforts_of
from hermes_acp.models.wire.endpoints import Endpoint


class ResponseTimeouts(Struct, frozen=True):
    """The maximum seconds until the first word, and between signs of life after it."""

    first_s: float
    between_s: float


LOCAL: Final = ResponseTimeouts(900.0, 300.0)
REASONING: Final = ResponseTimeouts(600.0, 180.0)
PLAIN: Final = ResponseTimeouts(120.0, 60.0)


class IdleTimer:
    """The timeout for the next silence within one answer."""

    def __init__(self, bounds: ResponseTimeouts) -> None:
        self._bounds = bounds
        self.has_started = False

    @property
    def limit_s(self) -> float:
        """The timeout for the next silence, in seconds."""
        return self._bounds.between_s if self.has_started else self._bounds.first_s


def timeouts_for(endpoint: Endpoint, host: str, model: str, provider: str) -> ResponseTimeouts:
    """Return the timeouts for a model at an endpoint; the user's settings take precedence.

    A limit set for all silences also applies to the first word, unless that has its own limit.
    """
    usual = LOCAL if is_local_network(host) else REASONING if efforts_of(model, provider) else PLAIN
    between_s = usual.between_s if endpoint.silence_s is None else endpoint.silence_s
    first_s = endpoint.first_word_s or endpoint.silence_s or usual.first_s
    return ResponseTimeouts(first_s, between_s)


def is_local_network(host: str) -> bool:
    """Return whether a host is this machine or on its local network, where people run their own models."""
    try:
        return ipaddress.ip_address(host).is_private
    except ValueError:
        return "." not in host or host.endswith((".localhost", ".local", ".internal", ".lan"))
