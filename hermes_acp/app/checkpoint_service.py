"""Whether and where a session's turns are kept so that they can be undone.

Knows: the settings, that only files of this machine are kept. Does not know: how, or who undoes.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_acp.assembly.lodging import Lodging
from hermes_acp.config.environment import Environment
from hermes_acp.core.checkpoints import CheckpointTrouble
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.ports import Clock, Ids
from hermes_acp.knowledge.note_changes import NoteChanges
from hermes_acp.sessions.undo import Undoing
from hermes_acp.storage.checkpoints.keeper import Keeper

if TYPE_CHECKING:
    from hermes_acp.config.checkpoints import CheckpointSettings
    from hermes_acp.config.settings import Settings
    from hermes_acp.sessions.session import Session
    from hermes_acp.storage.checkpoints.store import StoreSetup
    from hermes_acp.storage.checkpoints.sweeping import Retention


class Checkpointing:
    """The checkpoints of one process."""

    def __init__(
        self,
        environment: Environment,
        lodging: Lodging,
        settings: "Callable[[], Settings | None]",
        clock: Clock,
        ids: Ids,
    ) -> None:
        """Keep nothing yet; `settings` gives them once they are known."""
        self._environment = environment
        self._lodging = lodging
        self._settings = settings
        self._clock = clock
        self.keeper = Keeper(self._setup, self._terms, clock, ids)

    def undoing(self, session_id: str, tell: Callable[[NoteAdded], object]) -> Undoing:
        """Give what takes back turns of a session; `tell` records what its model must know."""
        return Undoing(self.keeper, NoteChanges(self._environment.home), self._clock.now, session_id, tell)

    def of(self, session: "Session") -> Keeper | None:
        """Give where a session's turns are kept; None where its user wants none. Raises CheckpointTrouble."""
        if not self._section().enabled:
            return None
        if elsewhere := self._lodging.elsewhere(session.workspace):
            raise CheckpointTrouble(
                f"Files are on the backend {elsewhere}, where there are no checkpoints: turns cannot be undone there."
            )
        return self.keeper

    def _section(self) -> "CheckpointSettings":
        from hermes_acp.config.checkpoints import CheckpointSettings

        settings = self._settings()
        return settings.checkpoints if settings else CheckpointSettings()

    def _setup(self) -> "StoreSetup":
        return setup_of(self._environment, self._section())

    def _terms(self) -> "Retention":
        return terms_of(self._section())


def setup_of(environment: Environment, section: "CheckpointSettings") -> "StoreSetup":
    """Say where checkpoints are kept and what is too much for them."""
    from hermes_acp.policy.names import is_sensitive
    from hermes_acp.storage.checkpoints.sifting import Bounds
    from hermes_acp.storage.checkpoints.store import StoreSetup

    bounds = Bounds(section.largest_file_bytes, holds_keys=is_sensitive)
    return StoreSetup(environment.home, environment.variables, bounds)


def terms_of(section: "CheckpointSettings") -> "Retention":
    """Say for how long checkpoints are kept."""
    from hermes_acp.storage.checkpoints.sweeping import Retention

    return Retention(section.keep_turns, section.keep_days, section.largest_store_bytes)
