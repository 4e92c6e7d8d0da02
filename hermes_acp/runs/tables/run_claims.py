"""Change the claim on a run: claim, renew, settle, release, take over. Each function is one transaction.

A claim is valid for one worker and epoch (`Claim`): later writes by an earlier holder have no effect.
"""

from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.ports.run_ports import (
    Crashed,
    Done,
    DriveOutcome,
    Failed,
    Fenced,
    InputRequired,
    RunMessage,
    RunOrder,
    RunState,
    WorkScope,
)
from hermes_acp.runs.tables.run_tables import note_change, select_messages
from hermes_acp.runs.tables.table_connection import TableConnection

BUSY_WAIT_S: Final = 1.0
MAX_BUSY_WAIT_S: Final = 60.0
MAX_STORAGE_REPEATS: Final = 6
"""How often a run is retried if its record could not be read or written; long enough for a database to restart."""
PARKED_SENTENCE: Final = "The process that worked on this run was killed {crashes} times."
IS_DUE: Final = """state = 'queued' AND not_before <= :now
    AND NOT EXISTS (SELECT 1 FROM runs AS earlier WHERE earlier.chain = due.chain AND earlier.seq < due.seq
        AND (earlier.state IN ('running', 'input_required')
             OR earlier.state = 'queued' AND earlier.not_before <= :now))
    AND NOT EXISTS (SELECT 1 FROM runs AS other WHERE other.session_id = due.session_id AND other.state = 'running')"""
"""A condition for whether a row of `runs AS due` may be claimed at the time `:now`."""
DUE: Final = f"""SELECT seq, id, spec, epoch FROM runs AS due WHERE {{which}} AND {IS_DUE}
    ORDER BY priority, seq LIMIT 1"""


class Claim(Struct, frozen=True):
    """One worker's right to work on a run."""

    order: RunOrder
    holder: str
    epoch: int
    messages: tuple[RunMessage, ...] = ()


class ClaimedRun(Struct, frozen=True):
    """A run held by a worker, as seen by others. `beat` changes with each renewal."""

    id: str
    holder: str
    epoch: int
    beat: int


def claim_next(
    connection: TableConnection, holder: str, now: float, scope: WorkScope, *, max_running: int = 0
) -> Claim | None:
    """Claim the next due run, or return None. With `max_running`, at most that many are in progress at once."""
    if max_running:
        (running,) = connection.execute("SELECT count(*) FROM runs WHERE state = 'running'").fetchone()
        if running >= max_running:
            return None
    places = {f"place{number}": place for number, place in enumerate(scope.places)}
    listed = ", ".join(f":{name}" for name in places)
    which = "id = :only" if scope.only else f"place IN ({listed})"
    row = connection.execute(DUE.format(which=which), {"now": now, "only": scope.only, **places}).fetchone()
    if row is None:
        return None
    seq, run_id, spec, epoch = row
    connection.execute(
        """UPDATE runs SET state = 'running', holder = ?, epoch = ?, beat = beat + 1, updated_at = ?,
           started_at = CASE WHEN started_at > 0 THEN started_at ELSE ? END,
           progress_at = ?, waits_for = '[]', failure = '', sentence = ''
           WHERE seq = ?""",
        (holder, epoch + 1, now, now, now, seq),
    )
    note_change(connection, run_id, "running", now)
    order = msgspec.json.decode(spec, type=RunOrder)
    return Claim(order, holder, epoch + 1, select_messages(connection, run_id))


def next_due(connection: TableConnection, now: float) -> float | None:
    """Return when the next waiting run is due, or None."""
    return connection.execute(
        "SELECT min(not_before) FROM runs WHERE state = 'queued' AND not_before > ?", (now,)
    ).fetchone()[0]


def renew(connection: TableConnection, claim: Claim, progress_at: float) -> "Renewal":
    """Renew a claim; return whether it is still valid and whether its run must stop."""
    done = connection.execute(
        """UPDATE runs SET beat = beat + 1, progress_at = CASE WHEN progress_at > ? THEN progress_at ELSE ? END
           WHERE id = ? AND holder = ? AND epoch = ? AND state = 'running'""",
        (progress_at, progress_at, claim.order.id, claim.holder, claim.epoch),
    )
    if not done.rowcount:
        return Renewal(is_held=False)
    (must_stop,) = connection.execute("SELECT must_stop FROM runs WHERE id = ?", (claim.order.id,)).fetchone()
    return Renewal(is_held=True, must_stop=bool(must_stop))


class Renewal(Struct, frozen=True):
    """Whether a claim is still valid, and whether its run must stop."""

    is_held: bool
    must_stop: bool = False


def is_held(connection: TableConnection, claim: Claim) -> bool:
    """Return whether a claim is still valid."""
    row = connection.execute(
        "SELECT 1 FROM runs WHERE id = ? AND holder = ? AND epoch = ? AND state = 'running'",
        (claim.order.id, claim.holder, claim.epoch),
    ).fetchone()
    return row is not None


def settle(
    connection: TableConnection, claim: Claim, outcome: DriveOutcome, now: float, *, max_crashes: int
) -> bool:
    """Store the outcome of an attempt; if the claim is no longer valid, change nothing and return False."""
    if not is_held(connection, claim):
        return False
    match outcome:
        case Done():
            _rest(connection, claim, "done", now, outcome.sentence)
        case InputRequired():
            if _was_answered(connection, claim, outcome):
                _rest(connection, claim, "queued", now)
            else:
                _rest(connection, claim, "input_required", now, outcome.sentence, waits_for=outcome.call_ids)
        case Failed(kind="busy"):
            _wait_before_repeat(connection, claim, now)
        case Failed(kind="storage") if _times_repeated(connection, claim) < MAX_STORAGE_REPEATS:
            _wait_before_repeat(connection, claim, now)
        case Failed():
            _rest(connection, claim, "failed", now, outcome.sentence, failure=outcome.kind)
        case Crashed():
            crashed = ClaimedRun(claim.order.id, claim.holder, claim.epoch, beat=0)
            _count_crash(connection, crashed, now, max_crashes)
        case Fenced():
            return False
    return True


def _was_answered(connection: TableConnection, claim: Claim, outcome: InputRequired) -> bool:
    """Return whether an answer arrived while the run was being suspended."""
    known = len(claim.messages)
    new = select_messages(connection, claim.order.id)[known:]
    return any(message.call_id in outcome.call_ids for message in new)


def _times_repeated(connection: TableConnection, claim: Claim) -> int:
    """Return how often a run has been retried because it could not be worked on."""
    return connection.execute("SELECT busy FROM runs WHERE id = ?", (claim.order.id,)).fetchone()[0]


def _wait_before_repeat(connection: TableConnection, claim: Claim, now: float) -> None:
    wait_s = min(MAX_BUSY_WAIT_S, BUSY_WAIT_S * 2 ** min(_times_repeated(connection, claim), 10))
    connection.execute(
        "UPDATE runs SET busy = busy + 1, not_before = ? WHERE id = ?", (now + wait_s, claim.order.id)
    )
    _rest(connection, claim, "queued", now)


def _rest(
    connection: TableConnection,
    claim: Claim,
    state: RunState,
    now: float,
    sentence: str = "",
    *,
    failure: str = "",
    waits_for: tuple[str, ...] = (),
) -> None:
    """Release the run in a new state. If a stop was requested in the meantime, stop the run unless it has ended."""
    (must_stop,) = connection.execute("SELECT must_stop FROM runs WHERE id = ?", (claim.order.id,)).fetchone()
    if must_stop and state in ("queued", "input_required", "failed"):
        state, sentence, failure, waits_for = "stopped", "", "", ()
    connection.execute(
        """UPDATE runs SET state = ?, holder = '', updated_at = ?, sentence = ?, failure = ?, waits_for = ?,
           crashes = CASE WHEN ? IN ('input_required', 'done') THEN 0 ELSE crashes END, must_stop = 0 WHERE id = ?""",
        (
            state, now, sentence, failure, msgspec.json.encode(waits_for).decode(), state, claim.order.id,
        ),
    )  # fmt: skip
    note_change(connection, claim.order.id, state, now, sentence)


def release(connection: TableConnection, claim: Claim, now: float) -> None:
    """Return a run to the queue, because its worker is shutting down."""
    if is_held(connection, claim):
        _rest(connection, claim, "queued", now)


class ClaimSurvey(Struct, frozen=True):
    """All claims at one point in time: a worker's own, by run and epoch, and those of others.

    Each of the worker's own comes with whether its run must stop. `boots` contains the boot IDs of the workers'
    machines.
    """

    own: dict[tuple[str, int], bool]
    foreign: tuple[ClaimedRun, ...]
    boots: dict[str, str]


def survey_claims(connection: TableConnection, holder: str) -> ClaimSurvey:
    """Return the claims on all runs."""
    rows = connection.execute(
        "SELECT id, holder, epoch, beat, must_stop FROM runs WHERE state = 'running'"
    ).fetchall()
    own = {(row[0], row[2]): bool(row[4]) for row in rows if row[1] == holder}
    foreign = tuple(ClaimedRun(*row[:4]) for row in rows if row[1] != holder)
    return ClaimSurvey(
        own, foreign, dict(connection.execute("SELECT id, boot FROM workers")) if foreign else {}
    )


def take_over(connection: TableConnection, seen: ClaimedRun, now: float, *, max_crashes: int | None) -> bool:
    """Queue the run of a worker that died or stopped renewing its claim.

    With `max_crashes`, the worker was killed while it had the run, and a run that is killed too often is parked.
    Returns False if the worker has renewed the claim since.
    """
    row = connection.execute(
        "SELECT 1 FROM runs WHERE id = ? AND holder = ? AND epoch = ? AND beat = ? AND state = 'running'",
        (seen.id, seen.holder, seen.epoch, seen.beat),
    ).fetchone()
    if row is None:
        return False
    if max_crashes is None:
        connection.execute("UPDATE runs SET lapses = lapses + 1 WHERE id = ?", (seen.id,))
        requeue(connection, seen.id, seen.holder, seen.epoch, now)
    else:
        _count_crash(connection, seen, now, max_crashes)
    return True


def _count_crash(connection: TableConnection, held: ClaimedRun, now: float, max_crashes: int) -> None:
    """Queue a run whose process was killed, or park it if this has happened too often."""
    (before,) = connection.execute("SELECT crashes FROM runs WHERE id = ?", (held.id,)).fetchone()
    crashes = before + 1
    connection.execute("UPDATE runs SET crashes = ? WHERE id = ?", (crashes, held.id))
    if crashes < max_crashes:
        requeue(connection, held.id, held.holder, held.epoch, now)
        return
    sentence = PARKED_SENTENCE.format(crashes=crashes)
    connection.execute(
        "UPDATE runs SET state = 'parked', holder = '', updated_at = ?, sentence = ? WHERE id = ?",
        (now, sentence, held.id),
    )
    note_change(connection, held.id, "parked", now, sentence)


def requeue(connection: TableConnection, run_id: str, holder: str, epoch: int, now: float) -> None:
    """Return a run to the queue if its claim is unchanged."""
    row = connection.execute(
        "SELECT must_stop FROM runs WHERE id = ? AND holder = ? AND epoch = ? AND state = 'running'",
        (run_id, holder, epoch),
    ).fetchone()
    if row is None:
        return
    state: RunState = "stopped" if row[0] else "queued"
    connection.execute(
        "UPDATE runs SET state = ?, holder = '', must_stop = 0, updated_at = ? WHERE id = ?",
        (state, now, run_id),
    )
    note_change(connection, run_id, state, now)
