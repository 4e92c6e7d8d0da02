"""Value types for the result of a scan."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from injection_scanner.scan_failures import NOT_SCANNED, Deadline

Severity = Literal["info", "warn", "block"]
Source = Literal["text", "output"]
"""Who a text is written for: a reader, or (output of a command) nobody in particular."""

Verdict = Literal["allow", "warn", "block"]


class Finding(Struct, frozen=True):
    """One thing the scanner saw; `line` counts from 1 in the text as it was given."""

    rule: str
    severity: Severity
    line: int
    excerpt: str
    why: str
    category: str = ""


class ScanReport(Struct, frozen=True):
    """What was found, and the text with blocked passages and hidden characters taken out."""

    findings: tuple[Finding, ...]
    clean_text: str

    @property
    def verdict(self) -> Verdict:
        """The severest of the findings, as what to do."""
        severities = {finding.severity for finding in self.findings}
        return "block" if "block" in severities else "warn" if "warn" in severities else "allow"

    @property
    def failure(self) -> str:
        """Say why the text was not scanned; empty where it was."""
        return next((finding.why for finding in self.findings if finding.rule == NOT_SCANNED), "")

    @property
    def categories(self) -> tuple[str, ...]:
        """What kinds of attack the warnings and blocks are about."""
        return tuple(sorted({finding.category for finding in self.findings if finding.severity != "info"}))


ScanEngine = Callable[[str, Source, Deadline], ScanReport]
"""What looks through a text, knows who it is written for, and gives up once its time is up."""
