"""Decide what to do about due times, with pure functions of a schedule, the time and the decisions so far.

Each due time is decided once, whatever the clock does. Decisions continue from the last one. If the clock is set back,
nothing is decided until it passes that time again.
"""

from typing import Final

from msgspec import Struct

from hermes_acp.core.ports.schedule_ports import Fate, Schedule
from hermes_acp.runs.schedule_times import due_times, next_due

ON_TIME_TOLERANCE_S: Final = 60.0
"""The delay in seconds up to which a run counts as on time."""
MAX_COUNTED: Final = 1000
"""The maximum number of missed times that are counted one by one."""


class Decision(Struct, frozen=True):
    """The outcome of a due time or, if `count` is more than one, of all due times up to `until`."""

    due_at: float
    fate: Fate
    count: int = 1
    until: float = 0.0


class Decided(Struct, frozen=True):
    """The decisions up to a point in time, and the next due time."""

    decisions: tuple[Decision, ...]
    next_at: float | None


def decide(schedule: Schedule, decided_until: float, now: float, *, is_active: bool) -> Decided:
    """Decide about the due times since the last decision. `is_active` means that the previous run has not ended."""
    due = _due_between(schedule, decided_until, now)
    next_at = next_due(schedule.timing, max(now, decided_until))
    if not due.count:
        return Decided((), next_at)
    missed = (Decision(due.first, "missed", due.count - 1, due.before_last),) if due.count > 1 else ()
    return Decided(
        (*missed, Decision(due.last, _fate(schedule, due.last, now, is_active=is_active))), next_at
    )


def skip_due_times(schedule: Schedule, decided_until: float, now: float) -> Decided:
    """Decide about the due times that passed during a pause."""
    due = _due_between(schedule, decided_until, now)
    next_at = next_due(schedule.timing, max(now, decided_until))
    passed = (Decision(due.first, "paused", due.count, due.last),) if due.count else ()
    return Decided(passed, next_at)


def _fate(schedule: Schedule, due_at: float, now: float, *, is_active: bool) -> Fate:
    late_s = now - due_at
    if late_s > ON_TIME_TOLERANCE_S and (
        schedule.late == "skip" or (schedule.late == "within" and late_s > schedule.late_within_s)
    ):
        return "missed"
    return "skipped" if is_active and schedule.overlap == "skip" else "started"


class _DueTimes(Struct):
    """The due times in a time span: how many there are, the first, the last, and the one before the last."""

    count: int = 0
    first: float = 0.0
    last: float = 0.0
    before_last: float = 0.0

    def take(self, at: float) -> None:
        """Add the next one."""
        self.count += 1
        self.first = self.first or at
        self.before_last, self.last = self.last, at


def _due_between(schedule: Schedule, after: float, until: float) -> _DueTimes:
    """Return the due times between two points in time; a large number of them is only estimated."""
    found = _DueTimes()
    for at in due_times(schedule.timing, after):
        if at > until:
            return found
        found.take(at)
        if found.count == MAX_COUNTED:
            break
    else:
        return found
    start = found.last
    span_s = max(60.0, (found.last - found.first) / max(1, found.count - 1))
    if (until - start) / span_s > MAX_COUNTED:
        jump = max(start, until - max(span_s * MAX_COUNTED, 3 * 86400.0))
        found.count += int((jump - start) / span_s)
        start = jump
    for at in due_times(schedule.timing, start):
        if at > until:
            break
        found.take(at)
    return found
