"""Cache the scans of tools' descriptions by content.

Only descriptions without any findings are cached: one with a finding is scanned each time, so that it is reported each
time. What the user allows is decided elsewhere and is not cached here. Nothing is stored on disk: a server that is a
local process has the user's permissions, and could mark its own descriptions as clean.
"""

from collections.abc import Callable
from hashlib import sha256
from typing import Final

import msgspec

from hermes_acp.mcp.tool_descriptions import ToolDescription

MAX_KEPT: Final = 20_000


class DescriptionScans:
    """The scans of one process. Worker threads may use it concurrently; at worst, a description is scanned twice."""

    def __init__(self, clean: Callable[[str], str]) -> None:
        """Start with an empty cache; `clean` removes attempts to instruct the model and may block."""
        self._clean = clean
        self._without_findings: set[bytes] = set()

    def cleaned(self, said: ToolDescription) -> ToolDescription:
        """Return a description without attempts to instruct the model, or the same object if there are none. Blocks."""
        key = _digest_of(said)
        if key in self._without_findings:
            return said
        cleaned = said.cleaned(self._clean)
        if cleaned is said:
            if len(self._without_findings) >= MAX_KEPT:
                self._without_findings = set()
            self._without_findings.add(key)
        return cleaned


def _digest_of(said: ToolDescription) -> bytes:
    """Return a digest of everything that a scan reads, in the order in which it is read."""
    return sha256(msgspec.json.encode((said.description, said.parameters))).digest()
