"""Ports for schedules: when runs start, and the outcome of each due time."""

from collections.abc import Collection, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.ports.run_ports import DEFAULT_PRIORITY, RunBudget, Runs, RunView

LatePolicy = Literal["once", "skip", "within"]
"""The policy for due times that were missed: start one run, start none, or start one if it is not too late."""
Overlap = Literal["skip", "queue", "cancel"]
"""The policy if the previous run has not ended: start no run, queue one, or cancel the previous run and start one."""
Fate = Literal["started", "missed", "skipped", "paused"]
"""The outcome of a due time. `missed` means that it was too late; `skipped`, that the previous run had not ended."""


class Timing(Struct, frozen=True, omit_defaults=True):
    """When a schedule is due: by a cron expression in a time zone, or once, at a time in seconds since the epoch."""

    cron: str = ""
    at: float = 0.0
    tz: str = "UTC"


class RunTemplate(Struct, frozen=True, omit_defaults=True):
    """The template for the runs of a schedule."""

    prompt_ref: str
    cwd: str
    mode: str = ""
    backend: str = ""
    model: str = ""
    budget: RunBudget = RunBudget()
    priority: int = DEFAULT_PRIORITY


class Schedule(Struct, frozen=True, omit_defaults=True):
    """A schedule. `late_within_s` is the time limit for the policy `within`."""

    id: str
    timing: Timing
    template: RunTemplate
    late: LatePolicy = "once"
    late_within_s: float = 0.0
    overlap: Overlap = "skip"
    created_at: float = 0.0
    origin: str = ""


class ScheduleView(Struct, frozen=True):
    """A schedule's state in its engine, with its next due time in seconds since the epoch, or None if there is none."""

    schedule: Schedule
    is_paused: bool = False
    next_at: float | None = None


class Occurrence(Struct, frozen=True):
    """The outcome of a due time or, if `count` is more than one, of all due times up to `until`."""

    schedule_id: str
    due_at: float
    fate: Fate
    decided_at: float
    run_id: str = ""
    count: int = 1
    until: float = 0.0


class Schedules(Protocol):
    """The schedules of an engine.

    Each due time results in a run, or in a history entry that says why there was none.
    """

    async def add(self, schedule: Schedule) -> ScheduleView:
        """Add a schedule. Raises BadRequest if its ID is taken or it is never due, or StorageError."""
        ...

    async def pause(self, schedule_id: str) -> ScheduleView:
        """Start no more runs for a schedule until it is resumed. Raises BadRequest."""
        ...

    async def resume(self, schedule_id: str) -> ScheduleView:
        """Start runs for a schedule again from now on. Raises BadRequest."""
        ...

    async def remove(self, schedule_id: str) -> None:
        """Remove a schedule and its history; its runs are kept. Raises BadRequest."""
        ...

    async def run_now(self, schedule_id: str) -> RunView:
        """Start a run now, in addition to those that are due. Raises BadRequest."""
        ...

    async def show(self, schedule_id: str) -> ScheduleView | None:
        """Return a schedule, or None if it does not exist."""
        ...

    async def list(self) -> Sequence[ScheduleView]:
        """List schedules, the next due first."""
        ...

    async def history(self, schedule_id: str, limit: int = 50) -> Sequence[Occurrence]:
        """List the outcomes of due times, the newest first."""
        ...


class Prompts(Protocol):
    """The prompts of runs, each named after its content; only the names are stored in an engine's queues."""

    async def put(self, text: str, sources: Sequence[str] = ()) -> str:
        """Store a prompt with secrets masked, and return its name.

        `sources` lists where the parts not written by the user come from. Raises StorageError.
        """
        ...

    async def get(self, name: str) -> str:
        """Return a prompt. Raises StorageError."""
        ...

    async def sources(self, name: str) -> tuple[str, ...]:
        """Return where the parts of a prompt not written by the user come from. Raises StorageError."""
        ...

    async def prune(self, named: Collection[str], before: float) -> None:
        """Remove prompts that are not in `named` and were last stored before a time."""
        ...


class Engine(Runs, Protocol):
    """An engine with its schedules and prompts."""

    @property
    def prompts(self) -> Prompts:
        """The prompts for its runs."""
        ...

    @property
    def schedules(self) -> Schedules:
        """The schedules for its runs."""
        ...


class ListedSchedule(Struct, frozen=True):
    """A schedule with its prompt, and a description in words of when it is due."""

    view: ScheduleView
    prompt: str
    when: str


class AgentSchedules(Protocol):
    """The schedules, as far as the agent may see them and, with its user's approval, change them."""

    @property
    def place(self) -> str:
        """The path of the file that a change affects."""
        ...

    def timing(self, cron: str, at: str, tz: str) -> tuple[Timing, str]:
        """Return a timing and its description in words. Raises BadRequest."""
        ...

    async def add(self, prompt: str, cwd: str, timing: Timing, name: str, session_id: str) -> ListedSchedule:
        """Add a schedule on behalf of a session's agent. Raises BadRequest or StorageError."""
        ...

    async def find(self, name: str) -> ListedSchedule:
        """Return the schedule with a name. Raises BadRequest."""
        ...

    async def remove(self, name: str) -> None:
        """Remove a schedule. Raises BadRequest or StorageError."""
        ...

    async def list(self) -> Sequence[ListedSchedule]:
        """List all schedules, the next due first."""
        ...
