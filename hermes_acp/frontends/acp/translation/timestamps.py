"""Format times for the wire, the same in every protocol version.

The format is ISO 8601 in UTC.
"""

from datetime import UTC, datetime


def iso_time(at_s: float) -> str:
    """Format seconds since the epoch."""
    return datetime.fromtimestamp(at_s, UTC).isoformat().replace("+00:00", "Z")
