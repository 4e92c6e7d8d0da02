"""Calls to tools over a workspace held in memory."""

from collections.abc import Mapping, Sequence
from inspect import signature
from types import MappingProxyType
from typing import Any, Protocol

from pydantic import BaseModel

from hermes_acp.core.drawers import Drawer
from hermes_acp.core.exchanges import (
    Command,
    CommandEnd,
    Entry,
    Errand,
    Find,
    Finds,
    Match,
    RecallQuery,
    SearchQuery,
)
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Question, Reply, Result
from hermes_acp.core.terms import PlanEntry, ToolKind


class ToolWithArguments(Protocol):
    name: str
    kind: ToolKind
    is_cheap: bool
    is_repeatable: bool
    most_per_step: int | None
    arguments: type[BaseModel]

    def schema(self) -> ToolSchema: ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal: ...


class MemoryWorkspace:
    """Files in a dictionary; `written_as` stands for an editor that formats what it saves."""

    def __init__(self, files: Mapping[str, bytes] | None = None) -> None:
        self.cwd: str = "/project"
        self.roots: tuple[str, ...] = ("/project",)
        self.files = {f"/project/{name}": content for name, content in (files or {}).items()}
        self.written_as: bytes | None = None
        self.matches: Sequence[Match] = ()
        self.end = CommandEnd("", 0)
        self.commands: list[Command] = []

    def locate(self, path: str) -> str:
        if path == ".":
            return self.cwd
        return path if path.startswith("/") else f"/project/{path}"

    async def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    async def read_to_change(self, path: str) -> bytes | None:
        return await self.read(path)

    async def write(self, path: str, content: bytes) -> None:
        self.files[path] = self.written_as or content

    async def entries(self, path: str) -> Sequence[Entry]:
        return [Entry(name.removeprefix("/project/"), len(content)) for name, content in self.files.items()]

    async def search(self, query: SearchQuery) -> Sequence[Match]:
        return self.matches[: query.limit]

    async def run(self, command: Command, progress: Progress) -> CommandEnd:
        self.commands.append(command)
        return self.end

    async def close(self) -> None:
        self.files.clear()


class Report:
    session_id = "ses_present"

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

    async def inquire(self, question: Question) -> Reply | None:
        self.questions.append(question)
        return self.reply


class Said:
    """A recall that gives what it was made with, and keeps what it was asked."""

    def __init__(self, *found: Find, unread_sessions: int = 0) -> None:
        self._finds = Finds(found, unread_sessions)
        self.asked: list[RecallQuery] = []

    async def search(self, asked: RecallQuery) -> Finds:
        self.asked.append(asked)
        return self._finds


class Obedient:
    """Delegates that answer every errand with its title, and keep what they were given."""

    def __init__(self) -> None:
        self.given: list[tuple[Sequence[Errand], Sequence[str] | None]] = []

    async def carry_out(
        self, errands: Sequence[Errand], tools: Sequence[str] | None, progress: Progress
    ) -> Sequence[Result]:
        self.given.append((errands, tools))
        return [Result(f"{errand.title}: done.") for errand in errands]


PORTS: Mapping[str, object] = MappingProxyType({"recall": Said(), "delegates": Obedient()})


def find_tool(name: str) -> ToolWithArguments:
    tools: Drawer[Any] = Drawer("hermes_acp.tools.builtin", "TOOL")
    tool = tools.open(name)
    if not hasattr(tool, "bind"):
        return tool
    return tool.bind(**{port: PORTS[port] for port in signature(tool.bind).parameters})


async def propose(name: str, workspace: Workspace, **arguments: object) -> Proposal:
    tool = find_tool(name)
    return await tool.propose(tool.arguments.model_validate(arguments), workspace)


async def perform(name: str, workspace: Workspace, **arguments: object) -> Result:
    return await (await propose(name, workspace, **arguments)).perform(Report())
