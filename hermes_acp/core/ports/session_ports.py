"""Ports to an open session, for the services around sessions."""

from typing import Protocol

from hermes_acp.core.events import AnyEvent
from hermes_acp.core.ports.record_ports import Audience
from hermes_acp.core.ports.tool_ports import ToolSource
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record


class EventSink(Protocol):
    """Records events of a session and shows them to its subscribers."""

    def emit(self, event: AnyEvent) -> AnyEvent:
        """Record an event, then show it; return it as recorded. Raises StorageError, in which case nothing is shown."""
        ...

    def clean(self, text: str) -> str:
        """Return text with secrets masked."""
        ...

    def admit(self, audience: Audience) -> None:
        """Add a subscriber."""
        ...

    async def drained(self) -> None:
        """Wait while any subscriber is too far behind."""
        ...


class SessionObserver(Protocol):
    """Observes all sessions of a process."""

    def opened(self, session: "RecordedSession") -> Audience:
        """Return a subscriber for a session that has just been opened."""
        ...

    def closed(self, session_id: str) -> None:
        """Handle the closing of a session."""
        ...


class RecordedSession(Protocol):
    """A session, as seen by services that ask its user."""

    @property
    def record(self) -> Record:
        """The state derived from its events so far."""
        ...

    @property
    def ledger(self) -> EventSink:
        """The sink that records its events."""
        ...


class MovableSession(Protocol):
    """A session, as seen by the service that chooses its backend."""

    @property
    def record(self) -> Record:
        """The state derived from its events so far."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The workspace of its next turn."""
        ...

    def move(self, workspace: Workspace) -> None:
        """Use another workspace from the next turn on."""
        ...


class SourceSlots(Protocol):
    """A session's sources of additional tools, one per kind of owner; the service that sets `skills` also runs it."""

    own: ToolSource | None
    workspace: ToolSource | None
    skills: ToolSource | None
    written: ToolSource | None

    async def replace(self, own: ToolSource | None) -> None:
        """Replace the session's own source from the next turn on, and close the old one."""
        ...

    async def replace_workspace(self, source: ToolSource | None) -> None:
        """Replace the workspace's source from the next turn on, and close the old one."""
        ...


class CommandAnnouncer(Protocol):
    """Shows a session's slash commands to its subscribers."""

    def announce(self) -> None:
        """Show the commands again if they have changed."""
        ...


class EquippedSession(RecordedSession, Protocol):
    """A session, as seen by services that provide additional tools."""

    @property
    def id(self) -> str:
        """The session's ID."""
        ...

    @property
    def workspace(self) -> Workspace:
        """The workspace of its next turn."""
        ...

    @property
    def sources(self) -> SourceSlots:
        """The sources of its additional tools."""
        ...

    @property
    def commands(self) -> CommandAnnouncer:
        """Its slash commands."""
        ...
