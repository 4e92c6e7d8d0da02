"""Ports to an open session: what the services around sessions see of one."""

from typing import Protocol

from hermes_acp.core.events import AnyEvent
from hermes_acp.core.ports.tool_ports import ToolSource
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record


class EventSink(Protocol):
    """The way an event takes into a session's record, and to whoever watches."""

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record one event, then show it; return it as it was recorded. Raises StorageError, with nothing shown."""
        ...

    async def drained(self) -> None:
        """Wait while somebody who watches is too far behind."""
        ...


class RecordedSession(Protocol):
    """A session as whoever asks its user something sees it."""

    @property
    def record(self) -> Record:
        """What its events so far come to."""
        ...

    @property
    def ledger(self) -> EventSink:
        """What records its events."""
        ...


class MovableSession(Protocol):
    """A session as whoever chooses its backend sees it."""

    @property
    def record(self) -> Record:
        """What its events so far come to."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Where its next turn works."""
        ...

    def move(self, workspace: Workspace) -> None:
        """Use another workspace from the next turn on."""
        ...


class SourceSlots(Protocol):
    """A session's sources of further tools, one for each kind of owner; whoever sets `skills` runs that source."""

    own: ToolSource | None
    workspace: ToolSource | None
    skills: ToolSource | None
    written: ToolSource | None

    async def replace(self, own: ToolSource | None) -> None:
        """Use another own source from the next turn on, and close the one before."""
        ...

    async def replace_workspace(self, source: ToolSource | None) -> None:
        """Use another source of the workspace's from the next turn on, and close the one before."""
        ...


class CommandAnnouncer(Protocol):
    """Tells whoever watches a session which slash commands it offers."""

    def announce(self) -> None:
        """Show the commands again where others are offered than before."""
        ...


class EquippedSession(RecordedSession, Protocol):
    """A session as whoever gives it further tools sees it."""

    @property
    def id(self) -> str:
        """The session's id."""
        ...

    @property
    def workspace(self) -> Workspace:
        """Where its next turn works."""
        ...

    @property
    def sources(self) -> SourceSlots:
        """Where its further tools come from."""
        ...

    @property
    def commands(self) -> CommandAnnouncer:
        """The slash commands it offers."""
        ...
