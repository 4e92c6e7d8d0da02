"""The port by which a turn learns what changed in the context files, and what it has to ask about them."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record

CARD_NAME: Final = "context_file"
"""The name of the card on which a user is asked about a context file."""


class ContextChange(Protocol):
    """A change of the context files: a text for the model, a sentence for the user."""

    @property
    def text(self) -> str:
        """What the model is to know."""
        ...

    @property
    def told(self) -> str:
        """What its user is to know."""
        ...


class ContextQuestion(Struct, frozen=True):
    """A context file that appeared or changed during the session; it is used once its user approves it.

    `file` is its path on disk, `path` its name for people, `digest` the SHA-256 of its content. `old_text` is what
    the model was shown of it before, None for nothing.
    """

    path: str
    file: str
    digest: str
    text: str
    old_text: str | None = None


class ContextReport(Struct, frozen=True):
    """What changed in the context files, and what may be used once the user approves it."""

    news: Sequence[ContextChange] = ()
    questions: Sequence[ContextQuestion] = ()


class ContextMonitor(Protocol):
    """Monitor the context files of sessions."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report what changed for a session; `above` is the session whose user is asked."""
        ...

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Ask no more about this content in this process, as nobody could answer."""
        ...

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Store that later sessions of the folder may use this content, or must ask. Raises StorageError."""
        ...


class NullContextMonitor:
    """Monitor nothing, as where there are no context files."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report nothing."""
        return ContextReport()

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Do nothing: no question comes from here."""

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Do nothing: no question comes from here."""
