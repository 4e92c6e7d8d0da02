"""Messages of `hermes-acp logs`."""

from typing import Final

FOLLOW_HELP: Final = "keep printing new entries until you press Ctrl+C"
SINCE_HELP: Final = 'from this date on: 2026-03-04, 2d, yesterday, "last week"'
UNTIL_HELP: Final = "up to the end of this date"
SESSION_HELP: Final = "only entries of this session and its child agents: its ID, or the beginning of it"
KIND_HELP: Final = "only entries of this kind; repeatable"
JSON_HELP: Final = "print one JSON object per line"
NO_ENTRIES: Final = "No matching entries."
OF: Final = "by"


def limit_help(default: int) -> str:
    """Return the help text of `--limit`."""
    return f"the newest N entries (default: {default})"


def damaged(number: int) -> str:
    """Count the entries that could not be read."""
    return "1 entry could not be read." if number == 1 else f"{number:,} entries could not be read."


def took(seconds: float) -> str:
    """Format a duration."""
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"
