"""What `hermes-acp logs` says."""

from typing import Final

FOLLOW_HELP: Final = "go on with what happens from now on, until you press Ctrl+C"
SINCE_HELP: Final = 'from this date on: 2026-03-04, 2d, yesterday, "last week"'
UNTIL_HELP: Final = "up to the end of this date"
SESSION_HELP: Final = "only of one session and its child agents: its ID, or the beginning of it"
KIND_HELP: Final = "only of this kind; may be given several times"
JSON_HELP: Final = "print one JSON object a line"
NO_ENTRIES: Final = "Nothing like that happened here yet."
OF: Final = "by"


def limit_help(default: int) -> str:
    """Return the help of `--limit`."""
    return f"the newest N entries (default: {default})"


def damaged(number: int) -> str:
    """Return the note on what could not be read."""
    return "1 entry could not be read." if number == 1 else f"{number:,} entries could not be read."


def took(seconds: float) -> str:
    """Return a duration."""
    return f"{seconds * 1000:,.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"
