"""How a turn learns what is new about the context files, and what it has to ask about them."""

from collections.abc import Sequence
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.core.ports import Workspace
from hermes_acp.core.record import Record

CARD_NAME: Final = "context_file"
"""The name of the card on which a user is asked about a context file."""


class ContextChange(Protocol):
    """Something new about the context files: a text for the model, a sentence for its user."""

    @property
    def text(self) -> str:
        """What the model is to know."""
        ...

    @property
    def told(self) -> str:
        """What its user is to know."""
        ...


class ContextQuestion(Struct, frozen=True):
    """A context file that appeared or changed during the session; it is used once its user says so.

    `file` is its path on disk, `path` how it is called for people, `digest` the SHA-256 of its content. `old_text` is
    what the model was shown of it before, None for nothing.
    """

    path: str
    file: str
    digest: str
    text: str
    old_text: str | None = None


class ContextReport(Struct, frozen=True):
    """What is new about the context files, and what may be used once the user approves it."""

    news: Sequence[ContextChange] = ()
    questions: Sequence[ContextQuestion] = ()


class ContextMonitor(Protocol):
    """Looks after the context files of sessions."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report what is new for a session; `above` is the one whose user is asked, itself where it is no child's."""
        ...

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Ask no more about this content in this process, as nobody could answer."""
        ...

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Let later sessions of the folder use this content, or ask about it first. Raises StorageError."""
        ...


class NullContextMonitor:
    """Watches nothing, as where there are no context files."""

    async def look(self, record: Record, workspace: Workspace, above: Record) -> ContextReport:
        """Report nothing."""
        return ContextReport()

    def set_aside(self, record: Record, question: ContextQuestion) -> None:
        """Do nothing: no question comes from here."""

    async def remember(self, record: Record, question: ContextQuestion, *, is_used: bool) -> None:
        """Do nothing: no question comes from here."""
