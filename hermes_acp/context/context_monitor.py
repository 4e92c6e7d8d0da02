"""The port through which a turn learns which context files have changed, and what to ask about them."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record

CARD_NAME: Final = "context_file"
"""The tool name on the card that asks a user about a context file."""


class ContextChange(Protocol):
    """A change to the context files: text for the model, and a sentence for the user."""

    @property
    def text(self) -> str:
        """The text for the model."""
        ...

    @property
    def told(self) -> str:
        """The text for the user."""
        ...


class ContextQuestion(Struct, frozen=True):
    """A context file that appeared or changed during the session and may be used only once the user approves it.

    `file` is its path on disk, `path` is its display name, and `digest` is the SHA-256 of its content. `old_text` is
    the version of it that the model was last shown, or None.
    """

    path: str
    file: str
    digest: str
    text: str
    old_text: str | None = None


class ContextReport(Struct, frozen=True):
    """The changes to the context files, and the files that need the user's approval."""

    news: Sequence[ContextChange] = ()
    questions: Sequence[ContextQuestion] = ()


class ContextMonitor(Protocol):
    """Monitors the context files for sessions."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report what changed for a session; `above` is the session whose user is asked."""
        ...

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Stop asking about this content in this process, because nobody could answer."""
        ...

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Store whether later sessions in the folder may use this content or must first ask about it.

        Raises StorageError.
        """
        ...


class NullContextMonitor:
    """A monitor that reports nothing, for sessions without context files."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report nothing."""
        return ContextReport()

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Do nothing: this monitor asks no questions."""

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Do nothing: this monitor asks no questions."""
