"""Fakes for everything that tools reach outside the workspace."""

from collections.abc import Callable, Sequence

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import Diff, EventContext
from hermes_acp.core.ports.memory_ports import MemoryChange, MemoryPreview, MemoryState
from hermes_acp.core.ports.skill_ports import SkillChange, SkillContent, SkillPreview
from hermes_acp.core.ports.web_ports import BrowserAction, BrowserSnapshot, Page, WebSearchHit
from hermes_acp.core.ports.workspace_ports import FileDiagnostic, Workspace
from hermes_acp.core.proposals import Progress, Result


class Pages:
    """A web of prepared pages; all others are empty."""

    def __init__(self, **pages: Page) -> None:
        self.pages = pages
        self.fetched: list[str] = []
        self.onward: list[bool] = []

    def require_public(self, url: str) -> None:
        if "//10." in url:
            raise WorkspaceError("private")

    async def fetch(self, url: str, may_redirect: Callable[[str, str], bool]) -> Page:
        self.fetched.append(url)
        self.onward.append(may_redirect("elsewhere.test", "https://elsewhere.test/"))
        return self.pages.get(url.rpartition("/")[2], Page(url, 200, ""))


class Engine:
    """A search service that returns prepared results."""

    name: str = "Finder"
    host: str = "finder.test"

    def __init__(self, *hits: WebSearchHit) -> None:
        self.hits = hits
        self.asked: list[tuple[str, int]] = []

    async def search(self, query: str, most: int) -> Sequence[WebSearchHit]:
        self.asked.append((query, most))
        return self.hits[:most]


class Censor:
    """A scanner that removes one word."""

    def clean(self, text: str) -> str:
        return text.replace("EVIL", "[removed]")


class Window:
    """A browser that shows prepared pages."""

    def __init__(self, view: BrowserSnapshot | None = None) -> None:
        self.view = view or BrowserSnapshot("https://a.test/", "A", "- heading")
        self.acts: list[tuple[str, BrowserAction]] = []

    async def act(
        self, session_id: str, act: BrowserAction, may_redirect: Callable[[str, str], bool]
    ) -> BrowserSnapshot:
        self.acts.append((session_id, act))
        return self.view


class Findings:
    """An editor with diagnostics."""

    def __init__(self, *found: FileDiagnostic) -> None:
        self.found = found

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        return self.found


class Notebook:
    """Notes that are one line long."""

    async def preview(self, cwd: str, change: MemoryChange) -> MemoryPreview:
        return MemoryPreview(change, Diff("/home/notes", None, change.text))

    async def change(self, cwd: str, change: MemoryChange, moment: EventContext) -> MemoryState:
        return MemoryState(change.store, (change.text,), len(change.text), 100)


class FakeSkillFolder:
    """One skill."""

    def place(self, workspace: Workspace) -> str:
        return workspace.cwd

    async def find(self, cwd: str, words: str) -> tuple[str, ...]:
        return tuple(line for line in await self.names(cwd) if words in line)

    async def names(self, cwd: str) -> tuple[str, ...]:
        return ("- ship: Ships it.",)

    async def open(self, cwd: str, name: str, file: str = "") -> SkillContent:
        return SkillContent(name, "/skills/ship", "built in/ship", f"text of {file or name}", ("a.md",))


class Bench:
    """A folder for writing skills that stores nothing."""

    async def preview(self, cwd: str, change: SkillChange) -> SkillPreview:
        path = f"/skills/{change.name}/{change.file or 'SKILL.md'}"
        diff = Diff(path, None, change.text)
        warned = ("It is very similar to the skill ship.",)
        return SkillPreview(f"/skills/{change.name}", change.scope, "state", (path,), (), (diff,), warned)

    async def change(self, cwd: str, change: SkillChange, state: str, session_id: str) -> str:
        return f"{change.action} {change.name} {state} {session_id}"

    async def report(self, cwd: str, name: str, session_id: str) -> str:
        return f"{name} failed in {session_id}"


class ScriptTools:
    """Tools for scripts that report how they were called."""

    def __init__(self) -> None:
        self.called: list[tuple[str, str]] = []

    def names(self, progress: Progress) -> tuple[str, ...]:
        return ("look", "fail", "much")

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        self.called.append((name, arguments))
        match name:
            case "look":
                return Result(f"looked at {arguments}")
            case "much":
                return Result("ä" * 100_000)
            case _:
                return Result("There is no such thing.", is_error=True)
