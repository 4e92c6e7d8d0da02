"""Runs: units of work without a client, the engine that stores them, and the driver that carries them out. Engines
handle only IDs, limits and states. Prompts, questions and answers to the model are stored where the session is.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer

RunState = Literal["queued", "running", "input_required", "done", "failed", "stopped", "parked"]
"""`parked` runs wait for a person to look at them: their process was killed too often while it worked on them."""
FailureKind = Literal["model", "storage", "budget", "usage", "agent", "stalled", "busy"]
"""Why a drive failed. An engine repeats one that was `busy` (the session is open elsewhere), and one that failed at
`storage` for about a minute; all others end the run.
"""
ENDED: Final[tuple[RunState, ...]] = ("done", "failed", "stopped")
MIN_PRIORITY: Final = 5
DEFAULT_PRIORITY: Final = 3
MAX_PRIORITY: Final = 1


class RunBudget(Struct, frozen=True):
    """The budget of a run over all its turns. None means the limit in the settings."""

    max_steps: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None


class RunOrder(Struct, frozen=True, omit_defaults=True):
    """A request for a run: its session, a reference to its prompt, and its limits.

    Priorities are 1 (first) to 5. `not_before` is in seconds since the epoch. Runs with the same `chain` run one after
    the other in the order of their start; by default, it is the session. `origin` says what started the run, such as
    `schedule:ID`. Only a worker that serves `place` drives the run; "" is the place of every ordinary worker.
    `trace_parent` is the W3C `traceparent` of what started it. `news` is what the model is told before it continues,
    such as that the run has moved to another machine; it is set by the worker and not stored.
    """

    id: str
    session_id: str
    prompt_ref: str
    cwd: str
    mode: str = ""
    backend: str = ""
    model: str = ""
    budget: RunBudget = RunBudget()
    priority: int = DEFAULT_PRIORITY
    not_before: float = 0.0
    chain: str = ""
    origin: str = ""
    place: str = ""
    trace_parent: str = ""
    news: str = ""


class RunMessage(Struct, frozen=True, omit_defaults=True):
    """A message to a run: the answer to the question about a call, by whom and when (seconds since the epoch).

    `shown` identifies the question that was answered; an answer never applies to another one. `texts` and
    `left_out` say which parts of a change are allowed, as in `PermissionResponse`.
    """

    call_id: str
    answer: PermissionAnswer
    text: str = ""
    by: str = ""
    at: float = 0.0
    shown: str = ""
    texts: dict[str, str] = {}
    left_out: dict[str, tuple[str, ...]] = {}


class Done(Struct, frozen=True, tag="done"):
    """The run's last turn is done."""

    sentence: str = ""


class InputRequired(Struct, frozen=True, tag="input_required"):
    """The run is suspended until a person answers the questions about these calls, which are in the session's
    record.
    """

    call_ids: tuple[str, ...]
    sentence: str = ""


class Failed(Struct, frozen=True, tag="failed"):
    """The run cannot continue; `sentence` is for people."""

    kind: FailureKind
    sentence: str = ""


class Fenced(Struct, frozen=True, tag="fenced"):
    """Another worker has the run; later reports from this worker are ignored."""


class Crashed(Struct, frozen=True, tag="crashed"):
    """The process that worked on the run was killed, but its worker is alive: the run continues, unless this
    happens repeatedly.
    """


DriveOutcome = Done | InputRequired | Failed | Fenced | Crashed


class Attempts(Struct, frozen=True):
    """How often a run was claimed (`epoch`), crashed (`crashes`), and was taken over from an expired lease
    (`lapses`).
    """

    epoch: int = 0
    crashes: int = 0
    lapses: int = 0


class RunView(Struct, frozen=True):
    """A run's state in its engine. Times are seconds since the epoch, 0.0 if not yet.

    `waits_for` lists the calls whose questions are open, `progress_at` when the session last changed.
    """

    order: RunOrder
    state: RunState
    created_at: float
    updated_at: float
    started_at: float = 0.0
    progress_at: float = 0.0
    holder: str = ""
    attempts: Attempts = Attempts()
    waits_for: tuple[str, ...] = ()
    failure: str = ""
    sentence: str = ""


class RunChange(Struct, frozen=True):
    """A change of a run's state; `cursor` orders all changes of an engine."""

    cursor: int
    run_id: str
    state: RunState
    at: float
    sentence: str = ""


class RunFilter(Struct, frozen=True):
    """Which runs are listed, newest first; without states, all are. `origin` is a prefix."""

    states: tuple[RunState, ...] = ()
    session_id: str = ""
    origin: str = ""
    limit: int = 100


class Lease(Protocol):
    """The right to work on a run, renewed by the process. `epoch` grows with each claim."""

    @property
    def epoch(self) -> int:
        """The number of this claim."""
        ...

    @property
    def messages(self) -> Sequence[RunMessage]:
        """The answers that the run has received so far, oldest first."""
        ...

    def note_progress(self) -> None:
        """Report progress; being alive without advancing does not count."""
        ...

    async def confirm(self) -> bool:
        """Return whether this worker still holds the run, according to the engine."""
        ...


class Driver(Protocol):
    """Carries out runs: each `drive` works until the run ends or is suspended."""

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended. Cancelled if the lease is lost or the run is stopped. A run
        may be driven again after any interruption, so a drive first finds out what earlier ones have done.
        """
        ...


def never() -> bool:
    """Return False."""
    return False


class WorkScope(Struct, frozen=True):
    """Which runs a worker drives, `seats` at a time: those of its places, or `only` one, whatever its place. Once
    `is_draining` returns True, no more runs are started, and the worker ends when the current ones do.
    """

    only: str = ""
    seats: int = 4
    places: tuple[str, ...] = ("",)
    is_draining: Callable[[], bool] = never


class Runs(Protocol):
    """An engine: stores runs, and lets one worker at a time drive each."""

    async def start(self, order: RunOrder) -> RunView:
        """Add a run; if one with this ID exists, return that one unchanged. Raises BadRequest or StorageError."""
        ...

    async def signal(self, run_id: str, message: RunMessage) -> RunView:
        """Store a message for a run, which then continues. Raises BadRequest if the run is not waiting for one."""
        ...

    async def stop(self, run_id: str) -> RunView:
        """Stop a run; a run that is being driven ends as soon as its worker is notified. Raises BadRequest."""
        ...

    async def retry(self, run_id: str) -> RunView:
        """Queue a failed or parked run again. Raises BadRequest."""
        ...

    async def show(self, run_id: str) -> RunView | None:
        """Return a run, or None if there is none with this ID."""
        ...

    async def list(self, which: RunFilter) -> Sequence[RunView]:
        """List runs, newest first."""
        ...

    async def changes(self, after: int, limit: int = 1000) -> Sequence[RunChange]:
        """List changes after a cursor, oldest first."""
        ...

    def watch(self, after: int | None = None) -> AbstractAsyncContextManager[AsyncGenerator[RunChange]]:
        """Follow changes after a cursor, or from now on."""
        ...

    async def prune(self, before: float) -> int:
        """Delete runs that ended before a time, in seconds since the epoch; return how many. Sessions stay."""
        ...

    async def has_worker(self, place: str = "") -> bool:
        """Return whether a running process drives the runs of a place."""
        ...

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Drive runs as they become due, until cancelled or drained. On cancellation, the current runs return to
        the queue.
        """
        ...

    async def aclose(self) -> None:
        """Release the engine's resources."""
        ...
