"""Messages of `hermes-acp usage`."""

from typing import Final

BY_HELP: Final = (
    "group totals by day (the default), model, model-day (each model per day), workspace, profile or tool"
)
SINCE_HELP: Final = 'from this date on: 2026-03-04, 30d, "last month" (default: the last 30 days)'
UNTIL_HELP: Final = "up to the end of this date"
NOTHING_USED: Final = "Nothing was used in that time."
UNDATED: Final = "before times were recorded"
UNKNOWN: Final = "unknown"
TOTAL: Final = "total"
MODEL_HEADS: Final = ("requests", "input", "cached", "output", "cost")
TOOL_HEADS: Final = ("calls", "failed", "time", "result tokens")
ESTIMATED: Final = "The tokens of results are estimates: four bytes are one token."


def reading(done: int, number: int) -> str:
    """Report the progress of the first reading of session records."""
    return f"Reading session records: {done:,} of {number:,}"


def others_profile(name: str) -> str:
    """Return a notice about a profile whose folder belongs to another user of the machine."""
    return f"The profile {name!r} belongs to another user of this machine and is left out."


def cost(usd: float) -> str:
    """Format an amount of money."""
    return f"${usd:,.4f}" if 0 < usd < 0.1 else f"${usd:,.2f}"


def share(part: int, whole: int) -> str:
    """Format a share of tokens in percent."""
    return f"{part / whole:.0%}" if whole else "-"


def seconds(took_s: float) -> str:
    """Format the duration of calls."""
    return f"{took_s:,.1f} s"
