"""Value types for the result of a scan."""

from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from injection_scanner.scan_failures import NOT_SCANNED, Deadline

Severity = Literal["info", "warn", "block"]
Source = Literal["text", "output"]
"""The audience of a text: a reader or, for command output, no one in particular."""

Verdict = Literal["allow", "warn", "block"]


class Finding(Struct, frozen=True):
    """One finding of the scanner; `line` counts from 1 in the original text."""

    rule: str
    severity: Severity
    line: int
    excerpt: str
    why: str
    category: str = ""


class ScanReport(Struct, frozen=True):
    """The findings, and the text without blocked passages and hidden characters."""

    findings: tuple[Finding, ...]
    clean_text: str

    @property
    def verdict(self) -> Verdict:
        """The verdict that follows from the most severe finding."""
        severities = {finding.severity for finding in self.findings}
        return "block" if "block" in severities else "warn" if "warn" in severities else "allow"

    @property
    def failure(self) -> str:
        """The reason why the text was not scanned, or an empty string if it was."""
        return next((finding.why for finding in self.findings if finding.rule == NOT_SCANNED), "")

    @property
    def categories(self) -> tuple[str, ...]:
        """The attack categories of all warnings and blocks."""
        return tuple(sorted({finding.category for finding in self.findings if finding.severity != "info"}))


ScanEngine = Callable[[str, Source, Deadline], ScanReport]
"""A function that scans a text for its kind of reader, and gives up at the deadline."""
