"""The seams that single tools take beside their workspace: the web, an editor's knowledge, notes, other agents.

Knows: the shapes alone. Does not know: any implementation, or which tool takes which.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

from hermes_acp.core.exchanges import (
    BrowserAct,
    BrowserView,
    Errand,
    Finds,
    MemoryChange,
    MemoryPreview,
    MemoryState,
    Moment,
    Page,
    RecallQuery,
    SkillChange,
    SkillPage,
    SkillPreview,
    Trouble,
    WebHit,
)
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Result


class Web(Protocol):
    """The pages of the web."""

    def require_public(self, url: str) -> None:
        """Refuse a URL that itself says that it leads to a private address. Raises BadRequest, WorkspaceTrouble."""
        ...

    async def fetch(self, url: str, may_go_on: Callable[[str, str], bool]) -> Page:
        """Fetch a page's text; a redirect to another host is followed only where `may_go_on(host, url)` says so.

        Raises BadRequest, WorkspaceTrouble.
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

    async def search(self, query: str, most: int) -> Sequence[WebHit]:
        """Find pages, the best first. Raises WorkspaceTrouble."""
        ...


class Scanner(Protocol):
    """Whoever looks through foreign text for what attacks its reader."""

    def clean(self, text: str) -> str:
        """Give the text with such passages taken out and marked. Costs time linear in its length."""
        ...


class Browser(Protocol):
    """One browser for each session, opened when it is first used."""

    async def act(
        self, session_id: str, act: BrowserAct, may_go_on: Callable[[str, str], bool]
    ) -> BrowserView:
        """Do one thing in the session's browser, and give what it shows then.

        The page may lead to another host only where `may_go_on(host, url)` says so. Raises WorkspaceTrouble.
        """
        ...


class Diagnoses(Protocol):
    """What the session's editor knows to be wrong with files."""

    async def troubles(self, path: str) -> Sequence[Trouble]:
        """Give the errors and warnings in a file or below a folder (absolute). Raises WorkspaceTrouble."""
        ...


class CallsTools(Protocol):
    """The tools of the turn that a call belongs to."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List what can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make one call within the call that `progress` is of: judged, asked about and shown like any other.

        `arguments` are JSON. Whatever goes wrong is the result.
        """
        ...


class Delegates(Protocol):
    """Child agents that work within the turn that calls for them."""

    async def carry_out(
        self, errands: Sequence[Errand], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        """Let a child agent of its own carry out each errand, and give what each answered.

        `tools` are the only ones they may use; None is all that a child may have. Raises BadRequest.
        """
        ...


class Memories(Protocol):
    """The agent's notes for later sessions, by the folder it works in."""

    async def preview(self, cwd: str, change: MemoryChange) -> MemoryPreview:
        """Show what a change would make of the notes. Raises BadRequest for one that cannot be made."""
        ...

    async def change(self, cwd: str, change: MemoryChange, moment: Moment) -> MemoryState:
        """Make a change, to the notes as they are at that moment. Raises BadRequest, StorageTrouble."""
        ...

    async def defer(self, cwd: str, change: MemoryChange, moment: Moment) -> None:
        """Keep a change until a person decides, in a later session too. Raises BadRequest, StorageTrouble."""
        ...


class Recall(Protocol):
    """What was ever said in the sessions of this home."""

    async def search(self, asked: RecallQuery) -> Finds:
        """Find passages. Raises BadRequest for a query without a word, StorageTrouble."""
        ...


class Skills(Protocol):
    """The skills there are, by the folder somebody works in."""

    def place(self, workspace: Workspace) -> str:
        """Give the folder of this machine whose skills count for a workspace; its own may be on another one."""
        ...

    async def names(self, cwd: str) -> tuple[str, ...]:
        """List them, each with what it is for."""
        ...

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        """List those that hold any of the words, the best first. Raises BadRequest where there is no word."""
        ...

    async def open(self, cwd: str, name: str, file: str = "") -> SkillPage:
        """Give a skill's text, or another file of it. Raises BadRequest, with what there is instead."""
        ...


class SkillUses(Protocol):
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

        Raises BadRequest, StorageTrouble.
        """
        ...

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        """Take down that a skill did not work, and say what follows. Raises BadRequest."""
        ...
