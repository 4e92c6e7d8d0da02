"""Checkpoints for asynchronous callers: every operation runs in a worker thread and stops when cancelled."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event, Lock
from typing import TYPE_CHECKING, Final, TypeVar

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.ports.checkpoint_ports import (
    Checkpoint,
    CheckpointContext,
    CheckpointEntry,
    CheckpointError,
    FileChange,
    FileTexts,
    RestoreResult,
)
from hermes_acp.core.ports.runtime_ports import Clock, Ids

if TYPE_CHECKING:
    from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointRecord
    from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore, StoreSetup
    from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy
    from hermes_acp.storage.checkpoints.restoration import RestoreRequest
    from hermes_acp.storage.checkpoints.shadow_repository import ShadowCache

T = TypeVar("T")
MAX_CONCURRENT: Final = 4
MAX_SHUTDOWN_S: Final = 2.0


class _OpenCheckpoint:
    """A checkpoint of a running turn. The thread of a cancelled call may still be using it when the turn ends."""

    def __init__(self, note: "CheckpointRecord") -> None:
        self._note = note
        self._lock = Lock()

    @property
    def roots(self) -> tuple[str, ...]:
        """The folders that the checkpoint covers."""
        return tuple(place.root for place in self._note.places)

    def use(self, store: "CheckpointStore", work: "Callable[[CheckpointRecord], T]") -> T:
        """Run `work` with the record while no other thread uses it. Raises CheckpointError if it was cancelled."""
        with self._lock:
            if store.stop.is_set():
                raise CheckpointError("The checkpoint was cancelled.")
            return work(self._note)


class CheckpointManager:
    """The checkpoints of a process. Methods raise CheckpointError."""

    def __init__(
        self,
        setup: "Callable[[], StoreSetup]",
        terms: "Callable[[], RetentionPolicy]",
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Initialise without storing anything.

        `setup` returns the location and limits, `terms` the retention policy.
        """
        self._setup = setup
        self._terms = terms
        self._clock = clock
        self._ids = ids
        self._threads = anyio.CapacityLimiter(MAX_CONCURRENT)
        self._at_work: set[Event] = set()
        self._memories: dict[str, ShadowCache] = {}
        self._open: dict[str, _OpenCheckpoint] = {}
        self._expected: list[tuple[str, ...]] = []
        self._borrowing: list[tuple[str, ...]] = []
        self._has_work = anyio.Event()
        self._wants_sweep = False
        self._has_swept = False

    def expect(self, roots: Sequence[str]) -> None:
        """Schedule the folders for reading and return at once."""
        self._expected.append(tuple(roots))
        self._has_work.set()

    async def keep(self) -> None:
        """Read folders ahead of time and collect garbage once per process, as a background task."""
        while True:
            await self._has_work.wait()
            self._has_work = anyio.Event()
            while self._expected:
                roots = self._expected.pop()
                with suppress(CheckpointError):  # reported when a checkpoint is needed
                    await self._do(lambda store, roots=roots: store.prepare(roots))
                self._borrowing.append(roots)
            while self._borrowing and not self._expected:
                roots = self._borrowing.pop()
                with suppress(CheckpointError):  # retried after the next snapshot
                    await self._do(lambda store, roots=roots: store.copy_borrowed(roots))
            if self._wants_sweep and not self._has_swept:
                self._has_swept = True
                with suppress(CheckpointError):
                    await self.collect_garbage()

    async def _do(self, work: "Callable[[CheckpointStore], T]", *, to_the_end: bool = False) -> T:
        stop, done = Event(), Event()

        def run() -> T:
            from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore

            self._at_work.add(done)
            try:
                return work(CheckpointStore(self._setup(), stop, self._memories))
            finally:
                self._at_work.discard(done)
                done.set()

        try:
            return await run_sync(run, abandon_on_cancel=not to_the_end, limiter=self._threads)
        except OSError as error:
            raise CheckpointError(f"Checkpoints are not available: {error}.") from error
        finally:
            stop.set()

    async def aclose(self) -> None:
        """Wait briefly for stopped operations, because their git processes must not outlive this one."""
        for done in tuple(self._at_work):
            await run_sync(done.wait, MAX_SHUTDOWN_S)

    async def open(
        self, occasion: CheckpointContext, touched: Sequence[str], *, is_whole: bool = True
    ) -> str:
        """Store the state before a turn's first change and return the checkpoint's ID.

        Without `is_whole`, store only these files.
        """
        note_id, now = self._ids.fresh("cp"), self._clock.now()
        note = await self._do(
            lambda store: store.begin(note_id, "turn", occasion, now, touched, is_whole=is_whole)
        )
        self._open[note_id] = _OpenCheckpoint(note)
        if is_whole:
            self._return_later(occasion.roots)
        return note_id

    def _return_later(self, roots: Sequence[str]) -> None:
        """Schedule copying the objects that a first snapshot borrowed."""
        self._borrowing.append(tuple(roots))
        self._has_work.set()

    async def add(self, checkpoint_id: str, touched: Sequence[str], *, is_whole: bool = False) -> None:
        """Add more files that are about to change; with `is_whole`, everything else too."""
        opened = self._open[checkpoint_id]
        await self._do(
            lambda store: opened.use(store, lambda note: store.amend(note, touched, is_whole=is_whole))
        )
        if is_whole:
            self._return_later(opened.roots)

    async def close(self, checkpoint_id: str, touched: Sequence[str]) -> tuple[FileChange, ...]:
        """Store the state after the turn and return its changes."""
        opened = self._open.pop(checkpoint_id)
        changes = await self._do(lambda store: opened.use(store, lambda note: store.finish(note, touched)))
        self._wants_sweep = True
        self._has_work.set()
        return tuple(changes)

    async def of_session(self, session_id: str) -> list[Checkpoint]:
        """Return a session's checkpoints, oldest first."""
        return await self._do(lambda store: store.listed(session_id))

    async def holding(self, session_id: str) -> list[CheckpointEntry]:
        """Return the checkpoints of a session that were not undone, oldest first, without reading their changes."""
        return await self._do(
            lambda store: [
                CheckpointEntry(
                    note.id, note.turn_id, note.created_at, "turn" if note.kind == "turn" else "undo"
                )
                for note in store.checkpoint_index.of_session(session_id)
                if not note.undone_by and note.kind != "redo"
            ]
        )

    async def texts(self, session_id: str, checkpoint_id: str) -> list[FileTexts]:
        """Return the contents, before and after, of every file that a checkpoint changed.

        Raises BadRequest if it is unknown.
        """
        return await self._do(lambda store: store.texts(*store.find(session_id, checkpoint_id)))

    async def patches(self, session_id: str, checkpoint_id: str) -> list[tuple[str, bytes]]:
        """Return a patch for each folder that a checkpoint changed. Raises BadRequest for an unknown checkpoint."""
        return await self._do(lambda store: store.patches(*store.find(session_id, checkpoint_id)))

    async def undo(self, session_id: str, count: int, *, force: bool) -> RestoreResult:
        """Undo the last `count` turns that have not been undone yet."""
        return await self._restore(
            lambda store, request: _restoration(store).undo(session_id, count, request),
            session_id,
            force=force,
        )

    async def redo(self, session_id: str, *, force: bool) -> RestoreResult:
        """Undo the last undo."""
        return await self._restore(
            lambda store, request: _restoration(store).redo(session_id, request), session_id, force=force
        )

    async def restore(
        self, session_id: str, checkpoint_id: str, paths: Sequence[str] | None, *, force: bool
    ) -> RestoreResult:
        """Undo one checkpoint, or only its changes to some files (absolute paths)."""
        return await self._restore(
            lambda store, request: _restoration(store).restore(session_id, checkpoint_id, request),
            session_id,
            paths,
            force=force,
        )

    async def _restore(
        self,
        work: "Callable[[CheckpointStore, RestoreRequest], RestoreResult]",
        session_id: str,
        paths: Sequence[str] | None = None,
        *,
        force: bool,
    ) -> RestoreResult:
        """Restore files. Once started, this runs to completion even if the caller is cancelled."""
        note_id, now = self._ids.fresh("cp"), self._clock.now()

        def run(store: "CheckpointStore") -> RestoreResult:
            from hermes_acp.storage.checkpoints.restoration import RestoreRequest

            occasion = CheckpointContext(session_id, "", "Undo", ())
            return work(
                store, RestoreRequest(note_id, now, occasion, None if paths is None else tuple(paths), force)
            )

        return await self._do(run, to_the_end=True)

    async def collect_garbage(self) -> None:
        """Delete old and excess checkpoints and compact the remaining ones, unless that was done recently."""
        now = self._clock.now()

        def work(store: "CheckpointStore") -> None:
            from hermes_acp.storage.checkpoints.garbage_collection import collect_garbage, is_due

            if is_due(store, now):
                collect_garbage(store, self._terms(), now)

        await self._do(work)


def _restoration(store: "CheckpointStore"):
    from hermes_acp.storage.checkpoints.restoration import CheckpointRestorer

    return CheckpointRestorer(store)
