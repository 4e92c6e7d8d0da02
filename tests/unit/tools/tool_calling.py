"""Helpers that make tool calls in a workspace in memory."""

from collections.abc import Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any, Protocol

from pydantic import BaseModel

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.event_types import EventContext, PlanEntry, ToolKind
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.child_ports import DelegatedTask
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit, SearchResults
from hermes_acp.core.ports.workspace_ports import (
    Command,
    CommandResult,
    DirectoryEntry,
    FileChunk,
    FileQuery,
    FoundFiles,
    LiveProcess,
    SearchMatch,
    SearchQuery,
    Workspace,
)
from hermes_acp.core.proposals import Confinement, Effect, Progress, Proposal, Question, Reads, Reply, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from tests.unit.tools.external_fakes import (
    Bench,
    Censor,
    Engine,
    FakeSkillFolder,
    Findings,
    Notebook,
    Pages,
    ScriptTools,
    Window,
)


class ToolWithArguments(Protocol):
    name: str
    kind: ToolKind
    tool_metadata: ToolMetadata
    arguments: type[BaseModel]

    def schema(self) -> ToolSchema: ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal: ...


class MemoryWorkspace:
    """Files in a dictionary; `written_as` acts as an editor that formats what it saves."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.cwd: str = "/project"
        self.roots: tuple[str, ...] = ("/project",)
        self.is_remote: bool = False
        self.files = {f"/project/{name}": content for name, content in (files or {}).items()}
        self.written_as: bytes | None = None
        self.matches: Sequence[SearchMatch] = ()
        self.end = CommandResult("", 0)
        self.commands: list[Command] = []

    def locate(self, path: str) -> str:
        if path == ".":
            return self.cwd
        return path if path.startswith("/") else f"/project/{path}"

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        return self.files.get(path)

    async def write(self, path: str, content: bytes) -> None:
        self.files[path] = self.written_as or content

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        content = self.files.get(path)
        return None if content is None else FileChunk(content[start : start + size_bytes], len(content))

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        return False

    async def remove(self, path: str) -> None:
        if path not in self.files:
            raise WorkspaceError(f"There is no file {path} to delete.")
        del self.files[path]

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        return [
            DirectoryEntry(name.removeprefix("/project/"), len(content))
            for name, content in self.files.items()
        ]

    async def find(self, query: FileQuery) -> FoundFiles:
        return FoundFiles(tuple(self.files)[: query.limit], len(self.files))

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        return self.matches[: query.limit]

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        self.commands.append(command)
        return self.end

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        return {}

    def confines(self, command: Command) -> bool:
        return False

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        raise AssertionError(command)

    async def close(self) -> None:
        self.files.clear()


class Report:
    session_id = "ses_present"
    event_context = EventContext("ses_present", "turn_1", 0.0)
    prompts: tuple[str, ...] = ()
    trace_parent = ""
    confinement: Confinement = "usual"

    def __init__(self) -> None:
        self.plans: list[tuple[PlanEntry, ...]] = []
        self.questions: list[Question] = []
        self.reply: Reply | None = None

    def output(self, text: str) -> None:
        raise AssertionError(text)

    def terminal(self, terminal_id: str) -> None:
        raise AssertionError(terminal_id)

    def plan(self, entries: tuple[PlanEntry, ...]) -> None:
        self.plans.append(entries)

    def allows(self, *effects: Effect) -> bool:
        return all(isinstance(effect, Reads) for effect in effects)

    async def inquire(self, question: Question) -> Reply | None:
        self.questions.append(question)
        return self.reply


class AnsweringRecall:
    """A recall service that returns prepared results and stores the queries."""

    def __init__(self, *found: SearchHit, unread_sessions: int = 0) -> None:
        self._finds = SearchResults(found, unread_sessions)
        self.asked: list[RecallQuery] = []

    async def search(self, asked: RecallQuery) -> SearchResults:
        self.asked.append(asked)
        return self._finds


class RecordingDelegates:
    """Delegates that answer every task with its title, and store the tasks."""

    about = ""

    def __init__(self) -> None:
        self.given: list[tuple[Sequence[DelegatedTask], Sequence[str] | None]] = []

    async def run_tasks(
        self, delegated_tasks: Sequence[DelegatedTask], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        self.given.append((delegated_tasks, tools))
        return [Result(f"{delegated_task.title}: done.") for delegated_task in delegated_tasks]


PORTS: Mapping[str, object] = MappingProxyType(
    {
        "recall": AnsweringRecall(),
        "delegates": RecordingDelegates(),
        "inner_calls": ScriptTools(),
        "web": Pages(),
        "scanner": Censor(),
        "search_engine": Engine(),
        "browsers": Window(),
        "diagnoses": Findings(),
        "memories": Notebook(),
        "asks_to_remember": False,
        "skills": FakeSkillFolder(),
        "skill_uses": None,
        "skill_workshop": Bench(),
        "tool_workshop": None,
        "schedules": None,
        "boards": None,
    }
)


def find_tool(name: str) -> ToolWithArguments:
    tools: PluginFolder[Any] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    tool = tools.open(name)
    if not hasattr(tool, "bind"):
        return tool
    return tool.bind(**{port: PORTS[port] for port in signature(tool.bind).parameters})


async def propose(name: str, workspace: Workspace, **arguments: object) -> Proposal:
    tool = find_tool(name)
    return await tool.propose(tool.arguments.model_validate(arguments), workspace)


async def perform(name: str, workspace: Workspace, **arguments: object) -> Result:
    return await (await propose(name, workspace, **arguments)).perform(Report())
