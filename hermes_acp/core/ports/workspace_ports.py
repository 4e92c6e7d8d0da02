"""A session's files and commands, and what an editor offers of its own."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes_acp.core.proposals import Confinement, Progress


class DirectoryEntry(Struct, frozen=True):
    """One entry of a folder; `name` ends in a slash for a folder."""

    name: str
    size_bytes: int


class SearchMatch(Struct, frozen=True):
    """One line that a search found, or a line of context (`is_context`); lines count from 1.

    A search for files or counts has one match a file, with line 0 and its `count` of lines.
    """

    path: str
    line: int
    text: str
    is_context: bool = False
    count: int = 0


class SearchQuery(Struct, frozen=True):
    """A search by regular expression, or `is_literal` words, under `path` (absolute), narrowed by a glob.

    Names in `excluded` are passed over. Globs are those of ignore files: `*.py` anywhere, `src/**/*.ts` from
    `path` on; `{a,b}` is either. `kind` is one of ripgrep's types, such as `py`. `before` and `after` are lines of
    context. Where it `is_multiline`, a match may span lines, and `.` is any character.
    """

    pattern: str
    path: str
    glob: str | None = None
    excluded: tuple[str, ...] = ()
    limit: int = 200
    is_literal: bool = False
    ignores_case: bool = False
    is_multiline: bool = False
    kind: str = ""
    before: int = 0
    after: int = 0
    shape: Literal["lines", "files", "counts"] = "lines"


class FileQuery(Struct, frozen=True):
    """A search for files by name under `path` (absolute), by a glob as in SearchQuery, the newest first.

    Ignored files are passed over unless `takes_ignored`; `.git` always is, and names in `excluded`.
    """

    glob: str
    path: str
    limit: int = 200
    takes_ignored: bool = False
    excluded: tuple[str, ...] = ()


class FileChunk(Struct, frozen=True):
    """A part of a file's bytes, and how many the whole file has."""

    content: bytes
    size_bytes: int


class Command(Struct, frozen=True):
    """A shell command, its working directory (absolute), and the seconds after which it is killed.

    `is_quiet`: it is the program's own and shown in no terminal. `variables` override the environment.
    """

    line: str
    cwd: str
    timeout_s: float
    confinement: Confinement = "usual"
    is_quiet: bool = False
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def must_be_confined(self) -> bool:
        """Whether it runs in a sandbox or not at all."""
        return self.confinement in ("must", "read_only")


class CommandResult(Struct, frozen=True):
    """How a command ended: output bounded to head and tail, and the exit code or None when killed.

    `signal` is the name of the signal that killed it, where that is known instead of a code. `left_running`:
    something that it started is still running.
    """

    output: str
    exit_code: int | None
    timed_out: bool = False
    signal: str = ""
    left_running: bool = False


class OutputSnapshot(Struct, frozen=True):
    """The output of a live process since the last read, and its result once it has ended."""

    output: str
    end: CommandResult | None = None


class FileDiagnostic(Struct, frozen=True):
    """Something an editor finds wrong in a file; lines and columns count from 1."""

    path: str
    line: int
    column: int
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""


class Files(Protocol):
    """The folders a session may touch, on this machine or (`is_remote`) on another. All paths are absolute.

    Files are read and changed by the paths that `locate` returns: links that appear later are not followed.
    """

    cwd: str
    roots: tuple[str, ...]
    is_remote: bool

    def locate(self, path: str) -> str:
        """Resolve a path: relative to cwd, links followed. Raises OutsideRoots."""
        ...

    async def read(self, path: str) -> bytes | None:
        """Return a file's bytes, the editor's unsaved ones first; None where there is no such file."""
        ...

    async def read_for_edit(self, path: str) -> bytes | None:
        """Return the same as `read`. Raises EditorStateUnknown where unsaved changes cannot be ruled out."""
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a file whole: all of it or nothing."""
        ...

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a file of any size, as it is stored, without unsaved changes."""
        ...

    async def remove(self, path: str) -> None:
        """Delete a file. Raises WorkspaceError for anything else, such as a folder."""
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
    """A command that runs in the background; `is_confined` where it runs in a sandbox."""

    name: str
    line: str
    is_confined: bool

    async def read(self, wait_s: float) -> OutputSnapshot:
        """Return the output since the last read; wait up to `wait_s` for output or the end.

        Where it is too much, the middle is left out, and the text says where all of it is.
        """
        ...

    async def write(self, text: str) -> None:
        """Send input; a final U+0004 ends the input. Raises WorkspaceError where it takes no more."""
        ...

    async def kill(self) -> None:
        """Kill it with everything it started; nothing of it is left on return."""
        ...


class Commands(Protocol):
    """A machine on which commands are run."""

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """The background processes that were not forgotten yet, by their short names: p1, p2…."""
        ...

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in a sandbox here."""
        ...

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command to its end; when cancelled, its whole process group is dead before this returns."""
        ...

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command in the background, in a terminal of its own where asked; `timeout_s` is not used.

        Raises WorkspaceError where it cannot start, or too many are running.
        """
        ...

    async def close(self) -> None:
        """Kill everything that commands left running."""
        ...


class Workspace(Files, Commands, Protocol):
    """The folders a session may touch and the machine its commands run on."""


class Editor(Protocol):
    """The files and terminals that an editor offers; each may be missing. All paths are absolute."""

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


class DiagnosticsProvider(Protocol):
    """The errors and warnings that the session's editor knows."""

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        """Return the errors and warnings in a file or below a folder (absolute). Raises WorkspaceError."""
        ...
