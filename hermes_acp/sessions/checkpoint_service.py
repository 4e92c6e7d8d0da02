"""Checkpoints of sessions: whether turns can be undone, and where the checkpoints are stored.

Only files on this machine are stored.
"""

from collections.abc import Callable
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports.checkpoint_ports import CheckpointError
from hermes_acp.core.ports.runtime_ports import Clock, Ids
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.memory.note_changes import NoteChanges
from hermes_acp.sessions.turn_undo import TurnUndo
from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager

if TYPE_CHECKING:
    from hermes_acp.config.sections.checkpoint_settings import CheckpointSettings
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.session_ports import EquippedSession
    from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup
    from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy


class CheckpointService:
    """The checkpoints of one process."""

    def __init__(
        self,
        environment: Environment,
        elsewhere: Callable[[Workspace], str],
        settings: "Callable[[], Settings | None]",
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Initialise without storing anything. `settings` returns the settings once they have been read.

        `elsewhere` returns the name of a workspace's backend if its files are not on this machine.
        """
        self._environment = environment
        self._elsewhere = elsewhere
        self._settings = settings
        self._clock = clock
        self.keeper = CheckpointManager(self._setup, self._terms, clock, ids)

    async def forget(self, session_id: str) -> None:
        """Delete the checkpoints of a deleted session. What cannot be deleted now is left to garbage collection."""

        def work() -> None:
            from hermes_acp.storage.checkpoints.checkpoint_store import CheckpointStore

            store = CheckpointStore(self._setup(), Event(), {})
            for note in store.checkpoint_index.of_session(session_id):
                store.forget(note)

        with suppress(CheckpointError, OSError):
            await run_sync(work)

    def undoing(self, session_id: str, tell: Callable[[NoteAdded], object]) -> TurnUndo:
        """Return the undo service of a session; `tell` records notes for its model."""
        return TurnUndo(self.keeper, NoteChanges(self._environment.home), self._clock.now, session_id, tell)

    def of(self, session: "EquippedSession") -> CheckpointManager | None:
        """Return the store for a session's turns, or None if the user disabled checkpoints. Raises CheckpointError."""
        if not self._section().enabled:
            return None
        if elsewhere := self._elsewhere(session.workspace):
            raise CheckpointError(
                f"Files are on the backend {elsewhere}, which has no checkpoints, so turns cannot be undone."
            )
        return self.keeper

    def _section(self) -> "CheckpointSettings":
        from hermes_acp.config.sections.checkpoint_settings import CheckpointSettings

        settings = self._settings()
        return settings.checkpoints if settings else CheckpointSettings()

    def _setup(self) -> "StoreSetup":
        return checkpoint_setup(self._environment, self._section())

    def _terms(self) -> "RetentionPolicy":
        return checkpoint_retention(self._section())


def checkpoint_setup(environment: Environment, section: "CheckpointSettings") -> "StoreSetup":
    """Return the location of the checkpoint store and its size limits."""
    from hermes_acp.policy.sensitive_names import is_sensitive
    from hermes_acp.storage.checkpoints.checkpoint_store import StoreSetup
    from hermes_acp.storage.checkpoints.snapshot_filter import SnapshotLimits

    bounds = SnapshotLimits(section.largest_file_bytes, holds_keys=is_sensitive)
    return StoreSetup(environment.home, environment.variables, bounds, environment.private_folder)


def checkpoint_retention(section: "CheckpointSettings") -> "RetentionPolicy":
    """Return the retention limits for checkpoints."""
    from hermes_acp.storage.checkpoints.garbage_collection import RetentionPolicy

    return RetentionPolicy(section.keep_turns, section.keep_days, section.largest_store_bytes)
