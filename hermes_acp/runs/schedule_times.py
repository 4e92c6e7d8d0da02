"""Compute when schedules are due, from cron expressions in time zones.

When clocks go forward, a job in the skipped hour runs once, right after it. When they go back, a job at a fixed time
runs once, and one with an interval keeps its interval. Source: Debian's cron(8).
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import Timing

CRON_HINT = 'Five fields: minute, hour, day, month, weekday. "0 7 * * 1-5" is 7:00 from Monday to Friday.'
FIELDS: Final = (
    ("minute", "0 to 59"),
    ("hour", "0 to 23"),
    ("day of the month", "1 to 31, or L for the last day"),
    ("month", "1 to 12, or jan to dec"),
    ("weekday", "0 (Sunday) to 7, or mon to sun"),
)
"""The fields of an expression, with the values that they accept."""


def local_zone() -> str:
    """Return the name of the machine's time zone."""
    from tzlocal import get_localzone_name

    try:
        name = get_localzone_name()
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        return "UTC"
    return name


def check_timing(timing: Timing) -> None:
    """Raise BadRequest for an invalid time zone or expression."""
    try:
        ZoneInfo(timing.tz)
    except (LookupError, ValueError, OSError) as error:
        raise BadRequest(
            f"{timing.tz!r} is not a known time zone.", hint="Use a name such as Europe/Berlin or UTC."
        ) from error
    if timing.cron and len(timing.cron.split()) != 5:
        raise BadRequest(f"{timing.cron!r} is not a cron expression.", hint=CRON_HINT)
    next_due(timing, 0.0)


def due_times(timing: Timing, after: float) -> Iterator[float]:
    """Yield the due times after a point in time, in order. Raises BadRequest for an invalid expression."""
    if not timing.cron:
        if timing.at > after:
            yield timing.at
        return
    from cronsim import CronSim, CronSimError

    try:
        for due in CronSim(timing.cron, datetime.fromtimestamp(after, ZoneInfo(timing.tz))):
            at = due.timestamp()
            if at > after:  # in a repeated hour, the library may start with the first occurrence
                yield at
    except CronSimError as error:
        raise BadRequest(_fault_of(timing.cron), hint=CRON_HINT) from error


def _fault_of(cron: str) -> str:
    """Describe what is wrong with a five-field expression."""
    from cronsim import CronSim, CronSimError

    fields = cron.split()
    for place, (name, values) in enumerate(FIELDS):
        alone = ["*"] * len(FIELDS)
        alone[place] = fields[place]
        try:
            CronSim(" ".join(alone), datetime(2024, 1, 1))
        except CronSimError:
            return f"{fields[place]!r} in {cron!r} is not a valid {name}: use {values}."
    return f"{cron!r} would never be due: none of these months has such a day."


def next_due(timing: Timing, after: float) -> float | None:
    """Return the first due time after a point in time, or None."""
    return next(due_times(timing, after), None)


def describe_cron(timing: Timing) -> str:
    """Describe a cron expression in words."""
    from cronsim import CronSim

    return CronSim(timing.cron, datetime(2024, 1, 1)).explain()
