"""Messages of `hermes-acp schedule`."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.core.ports.schedule_ports import Fate

ADD_HELP: Final = "start a run at certain times"
LIST_HELP: Final = "list schedules, the next due first"
PAUSE_HELP: Final = "start no more runs until it is resumed"
RESUME_HELP: Final = "start runs again"
REMOVE_HELP: Final = "remove a schedule with its history; its runs stay"
HISTORY_HELP: Final = "show the outcome of each due time, including skipped ones"
RUN_NOW_HELP: Final = "start a run now"
NAME_HELP: Final = "the schedule"
CRON_HELP: Final = (
    'five fields: minute, hour, day, month, weekday; "0 7 * * 1-5" is 7:00 from Monday to Friday'
)
AT_HELP: Final = "once, at this time: 2026-12-24T18:00, 18:00 (today or tomorrow) or +2h"
TZ_HELP: Final = "the time zone, such as Europe/Berlin (default: this machine's)"
NEW_NAME_HELP: Final = "its name (default: a generated one)"
LATE_HELP: Final = (
    "if no process was running when it was due: once (run it once, later), skip, or a time limit such as 2h"
)
OVERLAP_HELP: Final = "if the previous run has not ended: skip this one, queue it, or cancel the previous one"
LIMIT_HELP: Final = "how many lines to show"
NONE: Final = 'No schedules. Add one: hermes-acp schedule add "0 7 * * 1-5" -p PROMPT'
NO_TIME: Final = "No time was given."
TIME_HINT: Final = 'Pass a cron expression, such as "0 7 * * 1-5", or --at TIME.'
TWO_TIMES: Final = "Use a cron expression or --at, not both."
NO_HISTORY: Final = "It has not been due yet."
NOBODY_STARTS: Final = (
    "No process is running that can start it. Start `hermes-acp daemon` or `hermes-acp serve`."
)
LIST_HINT: Final = "List them: hermes-acp schedule list"
PAUSED: Final = "paused"
ENDED: Final = "ended"
SPAN_HINT: Final = "Use once, skip, or a duration such as 30m, 2h or 1d."
AT_HINT: Final = "Use 2026-12-24T18:00, 18:00 or +2h."
FATES: Final[Mapping[Fate, str]] = MappingProxyType(
    {
        "started": "started",
        "missed": "missed: no process was running",
        "skipped": "skipped: the previous run had not ended",
        "paused": "paused",
    }
)


def unknown(name: str) -> str:
    """Return the error for an unknown schedule."""
    return f"There is no schedule {name!r}."


def added(name: str, when: str, next_at: str) -> str:
    """Confirm a new schedule."""
    return f"{name}  {when}  next: {next_at}"


def once_at(moment: str) -> str:
    """Say when a one-time schedule is due."""
    return f"once at {moment}"


def in_zone(words: str, zone: str) -> str:
    """Say when a schedule is due, with its time zone."""
    return f"{words} ({zone})"


def changed(name: str, state: str) -> str:
    """Confirm a change."""
    return f"{name}: {state}"


def next_time(moment: str) -> str:
    """Say when a schedule is due next."""
    return f"next: {moment}"


def removed(name: str) -> str:
    """Confirm a removal."""
    return f"{name} is removed."


def bad_span(text: str) -> str:
    """Return the error for an invalid duration."""
    return f"{text!r} is not a valid duration."


def bad_time(text: str) -> str:
    """Return the error for an invalid time."""
    return f"{text!r} is not a time."


def occurrence(moment: str, until: str, count: int, fate: Fate, run: str) -> str:
    """Return a line of the history."""
    when = f"{moment} to {until} ({count} times)" if count > 1 else moment
    return f"{when}  {FATES[fate]}{f'  {run}' if run else ''}"
