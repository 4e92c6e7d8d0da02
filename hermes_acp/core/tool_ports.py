"""The seams that single tools take beside their workspace: the web, an editor's knowledge, notes, other agents.

Knows: the shapes alone. Does not know: any implementation, or which tool takes which.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from hermes_acp.core.port_types import (
    BrowserAction,
    BrowserSnapshot,
    DelegatedTask,
    EventContext,
    FileDiagnostic,
    MemoryChange,
    MemoryPreview,
    MemoryState,
    Page,
    RecallQuery,
    SearchResults,
    SkillChange,
    SkillContent,
    SkillPreview,
    WebSearchHit,
)
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Result


class WebFetcher(Protocol):
    """The pages of the web."""

    def require_public(self, url: str) -> None:
        """Refuse a URL that itself says that it leads to a private address. Raises BadRequest, WorkspaceError."""
        ...

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; a redirect to another host is followed only where `may_go_on(host, url)` says so.

        Raises BadRequest, WorkspaceError.
        """
        ...


class SearchEngine(Protocol):
    """A search engine of the user's choice."""

    @property
    def name(self) -> str:
        """Its name, as the user knows it."""
        ...

    @property
    def host(self) -> str:
        """The host that queries go to."""
        ...

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        """Find pages, the best first. Raises WorkspaceError."""
        ...


class Scanner(Protocol):
    """Whoever looks through foreign text for what attacks its reader."""

    def clean(self, text: str) -> str:
        """Return the text with such passages taken out and marked. Costs time linear in its length."""
        ...


class Browser(Protocol):
    """One browser for each session, opened when it is first used."""

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        """Do one thing in the session's browser, and give what it shows then.

        The page may lead to another host only where `may_go_on(host, url)` says so. Raises WorkspaceError.
        """
        ...


class DiagnosticsProvider(Protocol):
    """What the session's editor knows to be wrong with files."""

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        """Return the errors and warnings in a file or below a folder (absolute). Raises WorkspaceError."""
        ...


class ToolCaller(Protocol):
    """The tools of the turn that a call belongs to."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List what can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make one call within the call that `progress` is of: judged, asked about and shown like any other.

        `arguments` are JSON. Whatever goes wrong is the result.
        """
        ...


class TaskDelegator(Protocol):
    """Child agents that work within the turn that calls for them."""

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Let a child agent of its own carry out each errand, and give what each answered.

        `tools` are the only ones they may use; None is all that a child may have. Raises BadRequest.
        """
        ...


class MemoryNotes(Protocol):
    """The agent's notes for later sessions, by the folder it works in."""

    async def preview(self, cwd: str, change: MemoryChange) -> MemoryPreview:
        """Show what a change would make of the notes. Raises BadRequest for one that cannot be made."""
        ...

    async def change(self, cwd: str, change: MemoryChange, moment: EventContext) -> MemoryState:
        """Make a change, to the notes as they are at that moment. Raises BadRequest, StorageError."""
        ...

    async def defer(self, cwd: str, change: MemoryChange, moment: EventContext) -> None:
        """Keep a change until a person decides, in a later session too. Raises BadRequest, StorageError."""
        ...


class Recall(Protocol):
    """What was ever said in the sessions of this home."""

    async def search(self, asked: RecallQuery) -> SearchResults:
        """Find passages. Raises BadRequest for a query without a word, StorageError."""
        ...


class Skills(Protocol):
    """The skills there are, by the folder somebody works in."""

    def place(self, workspace: Workspace) -> str:
        """Return the folder of this machine whose skills count for a workspace; its own may be on another one."""
        ...

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List them, each with what it is for."""
        ...

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """List those that hold any of the words, the best first. Raises BadRequest where there is no word."""
        ...

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        """Return a skill's text, or another file of it. Raises BadRequest, with what there is instead."""
        ...


class SkillUsageLog(Protocol):
    """Whoever counts how skills do."""

    def note(self, session_id: str, name: str, folder: str) -> None:
        """Take down that a session's turn uses a skill, whose folder is absolute."""
        ...


class SkillWorkshop(Protocol):
    """Where the agent writes skills, by the folder it works in."""

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        """Show what a change would make of a skill. Raises BadRequest for one that cannot be made."""
        ...

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        """Make a change of the very skill that was in that state, and say what came of it.

        Raises BadRequest, StorageError.
        """
        ...

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Take down that a skill did not work, and say what follows. Raises BadRequest."""
        ...
