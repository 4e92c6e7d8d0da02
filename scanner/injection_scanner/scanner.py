"""Scan a text; the engine is loaded on the first call."""

from injection_scanner.findings import Finding, ScanEngine, ScanReport, Source
from injection_scanner.scan_failures import NOT_SCANNED, ScanTimeoutError, deadline_for


def scan(text: str, source: Source = "text", engine: ScanEngine | None = None) -> ScanReport:
    """Check and clean a whole text, in time linear in its length. Never raises.

    `engine` defaults to the built-in one. If it fails or takes too long, the cleaned text is empty and the
    only finding is `NOT_SCANNED`.
    """
    try:
        if engine is None:
            from injection_scanner.engine import examine

            engine = examine
        return engine(text, source, deadline_for(text))
    except Exception as error:
        why = "The text could not be scanned for instructions: " + (
            f"{error}."
            if isinstance(error, ScanTimeoutError)
            else f"the scanner failed ({type(error).__name__})."
        )
        return ScanReport((Finding(NOT_SCANNED, "block", 1, "", why, NOT_SCANNED),), "")
