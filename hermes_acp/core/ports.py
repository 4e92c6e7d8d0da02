"""The ports of the app.

Knows: the shapes of what touches the world. Does not know: any implementation. A contract test runs on each plugin.
"""

from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.events import AnyEvent, CallProposed, Event
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import ModelEvent, ModelRequest, Part, ToolSchema
from hermes_acp.core.port_types import (
    Command,
    CommandResult,
    DirectoryEntry,
    FileChunk,
    FileQuery,
    OutputSnapshot,
    PermissionAnswer,
    PermissionResponse,
    PermissionScope,
    SearchMatch,
    SearchQuery,
)
from hermes_acp.core.proposals import Progress, Proposal, Question, Reply, Result
from hermes_acp.core.record import Record
from hermes_acp.core.tool_metadata import ToolMetadata


class Clock(Protocol):
    """The time, injected so that tests own it."""

    def now(self) -> float:
        """Return seconds since the epoch, for records."""
        ...

    def monotonic(self) -> float:
        """Return seconds that never jump, for waiting and budgets."""
        ...


class Ids(Protocol):
    """Fresh identifiers, injected so that tests own them."""

    def fresh(self, kind: str) -> str:
        """Return a new id such as `turn_…` for kind `turn`."""
        ...


StartTask = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]
"""Lets some work go on beside everything else, in a task that somebody else owns."""


class Log(Protocol):
    """What the program decided and why, for whoever looks into it later; no part of any session."""

    def note(self, what: str, **facts: str | float | None) -> None:
        """Write down one decision by names and numbers: no secret, no words of a conversation."""
        ...


class Provider(Protocol):
    """A way to one vendor's models."""

    name: str

    def stream(self, request: ModelRequest) -> AbstractAsyncContextManager[AsyncIterator[ModelEvent]]:
        """Open one step; fragments in order, then exactly one ModelReply. Raises ModelError and its kin."""
        ...


class Files(Protocol):
    """The folders a session may touch, on this machine or, where it `is_remote`, on another. All paths are absolute.

    Files are read and changed by their paths as `locate` gave them: no link that came since is followed.
    """

    cwd: str
    roots: tuple[str, ...]
    is_remote: bool

    def locate(self, path: str) -> str:
        """Resolve a path, relative ones from cwd, links followed. Raises OutsideRoots."""
        ...

    async def read(self, path: str) -> bytes | None:
        """Return a file's bytes, the editor's unsaved ones first; None where there is no such file."""
        ...

    async def read_for_edit(self, path: str) -> bytes | None:
        """Return the same as `read`, or raise EditorStateUnknown where unsaved changes may exist that cannot be
        seen.
        """
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a file whole: all of it or nothing."""
        ...

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a file however large, as it is stored: unsaved changes do not count."""
        ...

    async def remove(self, path: str) -> None:
        """Take a file away. Raises WorkspaceError for what is none, such as a folder."""
        ...

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List one folder."""
        ...

    async def find(self, query: FileQuery) -> Sequence[str]:
        """Find files by name, honouring ignore files; the newest first."""
        ...

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Find lines, honouring ignore files."""
        ...


class LiveProcess(Protocol):
    """A command that was started and not waited for; `is_confined` where it runs in a sandbox."""

    name: str
    line: str
    is_confined: bool

    async def read(self, wait_s: float) -> OutputSnapshot:
        """Return what it put out since the last look, waiting so long for something or its end.

        What is too much is left out in the middle, and the text says where all of it is.
        """
        ...

    async def write(self, text: str) -> None:
        """Give it input; a final U+0004 ends the input. Raises WorkspaceError where it takes none any more."""
        ...

    async def kill(self) -> None:
        """End it with all it started; nothing of it is left on return."""
        ...


class Commands(Protocol):
    """A machine on which commands are run."""

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the processes that were launched and not forgotten yet, by their short names: p1, p2…."""
        ...

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in a sandbox here."""
        ...

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command to its end; when cancelled, its whole process group is dead before this returns."""
        ...

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command and leave it running, in a terminal of its own where it wants one; `timeout_s` is not used.

        Raises WorkspaceError where it cannot start, or too many are running.
        """
        ...

    async def close(self) -> None:
        """End everything that commands left running."""
        ...


class Workspace(Files, Commands, Protocol):
    """The folders a session may touch and the machine its commands run on."""


class Editor(Protocol):
    """What an editor offers of its own files and terminals; each may be missing. All paths are absolute."""

    reads_files: bool
    writes_files: bool
    runs_commands: bool

    async def read_text(self, path: str) -> str | None:
        """Return a file as the editor sees it, unsaved changes included; None where it knows no such file.

        Raises EditorStateUnknown when it does not say.
        """
        ...

    async def write_text(self, path: str, text: str) -> None:
        """Let the editor write a file. Raises WorkspaceError when it refuses."""
        ...

    async def run(self, command: Command, progress: Progress) -> CommandResult | None:
        """Run a command in a terminal of the editor's; None when it has none after all.

        Raises WorkspaceError when it may have been started and is lost.
        """
        ...


class Tool(Protocol):
    """One capability offered to the model; a plugin of `tools/builtin`, or of a tool source."""

    name: str
    kind: ToolKind

    @property
    def tool_metadata(self) -> ToolMetadata:
        """What it says of all its calls."""
        ...

    @property
    def arguments(self) -> type[Any] | dict[str, object]:
        """The model that checks arguments, or the JSON Schema of a tool that checks them itself."""
        ...

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal:
        """Understand a call without any effect. Raises WorkspaceError or BadRequest for what cannot be done."""
        ...


class PromptTemplate(Protocol):
    """A prompt somebody wrote beforehand, which a user calls for by name; `hint` says what goes behind the name.

    `brings` are the untrusted sources that its words come from.
    """

    name: str
    description: str
    hint: str
    brings: tuple[Source, ...]

    async def fill(self, words: str) -> tuple[Part, ...]:
        """Return the prompt with the words behind its name filled in. Raises BadRequest."""
        ...


class ResourceLibrary(Protocol):
    """Things that can be read at one place elsewhere, such as the resources of an MCP server."""

    @property
    def name(self) -> str:
        """The place's name, as the user knows it."""
        ...

    async def contents(self, progress: Progress) -> Result:
        """List what there is."""
        ...

    async def read(self, uri: str, progress: Progress) -> Result:
        """Read one thing."""
        ...


class ToolSource(Protocol):
    """Further tools that come and go, such as those of MCP servers, and what comes with them."""

    async def run(self) -> None:
        """Be at work until closed or cancelled; whoever owns the source runs this once."""
        ...

    def tools(self) -> Mapping[str, Tool]:
        """Return what can be used now, by name; costs nothing."""
        ...

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the prompts that can be called for now, by name; costs nothing."""
        ...

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the places where something can be read now, by a short name; costs nothing."""
        ...

    def news(self) -> Sequence[str]:
        """Return sentences the user should read, as things stand; a session tells each once for as long as it
        stands.
        """
        ...

    async def settled(self) -> None:
        """Wait until it is known of everything here whether it can be used."""
        ...

    async def close(self) -> None:
        """End the work and wait for its end; also before it began."""
        ...


class Gate(Protocol):
    """Whoever can be asked: for permission, and for what only they know."""

    async def ask(
        self, call: CallProposed, *, permission_scope: PermissionScope
    ) -> PermissionAnswer | PermissionResponse:
        """Put one call to a person and wait as long as it takes; `unavailable` where nobody can be asked.

        Answers for good are offered as far as `permission_scope` says what they would be remembered for.
        """
        ...

    async def inquire(self, call_id: str, question: Question) -> Reply | None:
        """Put a call's question to a person and wait as long as it takes; None where nobody can be asked."""
        ...


class Journal(Protocol):
    """The durable record of one session."""

    def append(self, event: AnyEvent) -> AnyEvent:
        """Write one event and give it as it was written; it then outlives this process. Raises StorageError."""
        ...

    async def settle(self) -> None:
        """Make what was appended outlive the machine too (fsync)."""
        ...


class ChildJournal(Journal, Protocol):
    """A journal that is given up when its child agent is done."""

    def close(self) -> None:
        """Let go of it."""
        ...


class ChildRecords(Protocol):
    """Where child agents keep their records."""

    async def begin(self, parent: Record) -> tuple[ChildJournal, Record]:
        """Begin the record of a session's new child; a cancel loses nothing that was begun. Raises StorageError."""
        ...


class Audience(Protocol):
    """Whoever watches a session; shown only what is already recorded."""

    def show(self, event: Event) -> None:
        """Take one event; never blocks."""
        ...

    async def drained(self) -> None:
        """Wait while this watcher is too far behind."""
        ...
