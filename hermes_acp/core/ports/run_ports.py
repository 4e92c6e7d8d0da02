"""Ports for runs: units of work without a client, the engine that stores them, and the driver that carries them out.

Engines handle only IDs, limits and states. Prompts, questions and answers to the model are stored with the session.
"""

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer

RunState = Literal["queued", "running", "input_required", "done", "failed", "stopped", "parked"]
"""`parked` runs wait for a person to look at them: their process was killed too often while it worked on them."""
FailureKind = Literal["model", "storage", "budget", "usage", "agent", "stalled", "busy"]
"""Why an attempt failed.

An engine retries an attempt that was `busy` (the session is open elsewhere) and, for about a minute, one that failed
with `storage`; all other failures end the run.
"""
ENDED: Final[tuple[RunState, ...]] = ("done", "failed", "stopped")
MIN_PRIORITY: Final = 5
DEFAULT_PRIORITY: Final = 3
MAX_PRIORITY: Final = 1


class RunBudget(Struct, frozen=True):
    """The budget of a run over all its turns. None means that the limit in the settings applies."""

    max_steps: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    timeout_s: float | None = None


class RunOrder(Struct, frozen=True, omit_defaults=True):
    """A request for a run: its session, a reference to its prompt, and its limits.

    Priorities range from 1 (first) to 5. `not_before` is in seconds since the epoch. Runs with the same `chain` run one
    after the other, in the order in which they were started; by default, the chain is the session. `origin` says what
    started the run, such as `schedule:ID`. Only a worker that serves `place` works on the run; "" is the place of every
    ordinary worker. `trace_parent` is the W3C `traceparent` of whatever started the run. `news` is what the model is
    told before it continues, for example that the run has moved to another machine; it is set by the worker and not
    stored.
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
    """A message to a run: the answer to the question about a call, with its author and time (seconds since the epoch).

    `shown` identifies the question that was answered; an answer never applies to a different one. `texts` and
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
    """The run's last turn has completed."""

    sentence: str = ""


class InputRequired(Struct, frozen=True, tag="input_required"):
    """The run is suspended until a person answers the questions about these calls, which are in the record."""

    call_ids: tuple[str, ...]
    sentence: str = ""


class Failed(Struct, frozen=True, tag="failed"):
    """The run cannot continue; `sentence` is for people."""

    kind: FailureKind
    sentence: str = ""


class Fenced(Struct, frozen=True, tag="fenced"):
    """Another worker has taken over the run; later reports from this worker are ignored."""


class Crashed(Struct, frozen=True, tag="crashed"):
    """The run's process was killed, but its worker is alive: the run continues, unless this happens repeatedly."""


DriveOutcome = Done | InputRequired | Failed | Fenced | Crashed


class Attempts(Struct, frozen=True):
    """How often a run was claimed (`epoch`), crashed (`crashes`), or lost its lease (`lapses`)."""

    epoch: int = 0
    crashes: int = 0
    lapses: int = 0


class RunView(Struct, frozen=True):
    """A run's state in its engine. Times are in seconds since the epoch, or 0.0 if the event has not happened yet.

    `waits_for` lists the calls whose questions are open; `progress_at` is when the session last changed.
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
    """A change to a run's state; `cursor` orders all changes in an engine."""

    cursor: int
    run_id: str
    state: RunState
    at: float
    sentence: str = ""


class RunFilter(Struct, frozen=True):
    """Selects which runs to list, the newest first; without states, all of them. `origin` is a prefix."""

    states: tuple[RunState, ...] = ()
    session_id: str = ""
    origin: str = ""
    limit: int = 100


class Lease(Protocol):
    """The right to work on a run, renewed by the process. `epoch` increases with each claim."""

    @property
    def epoch(self) -> int:
        """The number of this claim."""
        ...

    @property
    def messages(self) -> Sequence[RunMessage]:
        """The answers that the run has received so far, the oldest first."""
        ...

    def note_progress(self) -> None:
        """Report progress; merely being alive does not count."""
        ...

    async def confirm(self) -> bool:
        """Return whether this worker still holds the run, according to the engine."""
        ...


class Driver(Protocol):
    """Carries out runs: each call of `drive` works until the run ends or is suspended."""

    async def drive(self, order: RunOrder, lease: Lease) -> DriveOutcome:
        """Work on a run until it ends or is suspended; cancelled if the lease is lost or the run is stopped.

        A run may be attempted again after any interruption, so this method first determines what earlier attempts have
        done.
        """
        ...


def never() -> bool:
    """Return False."""
    return False


class WorkScope(Struct, frozen=True):
    """Which runs a worker handles, `seats` at a time: those of its places or, with `only`, one regardless of its place.

    Once `is_draining` returns True, no more runs are started, and the worker stops when the current ones have ended.
    """

    only: str = ""
    seats: int = 4
    places: tuple[str, ...] = ("",)
    is_draining: Callable[[], bool] = never


class Runs(Protocol):
    """An engine: stores runs, and lets one worker at a time work on each."""

    async def start(self, order: RunOrder) -> RunView:
        """Add a run; if there already is one with this ID, return it unchanged. Raises BadRequest or StorageError."""
        ...

    async def signal(self, run_id: str, message: RunMessage) -> RunView:
        """Store a message for a run, which then continues. Raises BadRequest if the run is not waiting for one."""
        ...

    async def stop(self, run_id: str) -> RunView:
        """Stop a run; one that is being worked on ends as soon as its worker is notified. Raises BadRequest."""
        ...

    async def retry(self, run_id: str) -> RunView:
        """Queue a failed or parked run again. Raises BadRequest."""
        ...

    async def show(self, run_id: str) -> RunView | None:
        """Return a run, or None if there is none with this ID."""
        ...

    async def list(self, which: RunFilter) -> Sequence[RunView]:
        """List runs, the newest first."""
        ...

    async def changes(self, after: int, limit: int = 1000) -> Sequence[RunChange]:
        """List the changes after a cursor, the oldest first."""
        ...

    def watch(self, after: int | None = None) -> AbstractAsyncContextManager[AsyncGenerator[RunChange]]:
        """Follow the changes after a cursor, or from now on."""
        ...

    async def prune(self, before: float) -> int:
        """Delete runs that ended before a time, in seconds since the epoch; return how many.

        Their sessions are kept.
        """
        ...

    async def has_worker(self, place: str = "") -> bool:
        """Return whether a running process works on the runs of a place."""
        ...

    async def work(self, driver: Driver, scope: WorkScope) -> None:
        """Work on runs as they become due, until cancelled or drained.

        On cancellation, the current runs return to the queue.
        """
        ...

    async def aclose(self) -> None:
        """Release the engine's resources."""
        ...
