"""Ports for a session's files and commands, and for what an editor provides."""

from collections.abc import Mapping, Sequence
from typing import Final, Literal, Protocol

from msgspec import Struct

from hermes_acp.core.proposals import Confinement, Progress

MAX_WHOLE_FILE_BYTES: Final = 64_000_000
"""The size in bytes above which a file is never read whole, so that it cannot be edited."""


class DirectoryEntry(Struct, frozen=True):
    """An entry of a folder; the `name` of a folder ends in a slash."""

    name: str
    size_bytes: int


class SearchMatch(Struct, frozen=True):
    """A line found by a search, or a line of context (`is_context`); lines are counted from 1.

    A search for files or counts has one match per file, with line 0 and the `count` of matching lines.
    """

    path: str
    line: int
    text: str
    is_context: bool = False
    count: int = 0


class SearchQuery(Struct, frozen=True):
    """A search for a regular expression or for literal text (`is_literal`) under `path` (absolute), narrowed by a glob.

    Names in `excluded` are skipped. Globs work as in ignore files: `*.py` anywhere, `src/**/*.ts` relative to `path`;
    `{a,b}` matches either. `kind` is one of ripgrep's file types, such as `py`. `before` and `after` are numbers of
    context lines. If `is_multiline`, a match may span lines, and `.` matches any character.
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
    """A search for files by name under `path` (absolute), with a glob as in SearchQuery.

    Ignored files are skipped unless `takes_ignored`; `.git` and the names in `excluded` are always skipped.
    """

    glob: str
    path: str
    limit: int = 200
    takes_ignored: bool = False
    excluded: tuple[str, ...] = ()


class FoundFiles(Struct, frozen=True):
    """Files found by name: at most the requested number, and how many matched, if known.

    The newest come first. If too many matched to compare their times, `is_by_time` is false, and the files nearest to
    the top folder are returned, ordered by path.
    """

    paths: tuple[str, ...] = ()
    matched: int = 0
    is_by_time: bool = True


class FileChunk(Struct, frozen=True):
    """A part of a file's bytes, with the size of the whole file."""

    content: bytes
    size_bytes: int


class Command(Struct, frozen=True):
    """A shell command with its working directory (absolute) and its time limit in seconds, after which it is killed.

    `is_quiet` means that the program itself runs it and that no terminal shows it. `variables` override the
    environment.
    """

    line: str
    cwd: str
    timeout_s: float
    confinement: Confinement = "usual"
    is_quiet: bool = False
    variables: tuple[tuple[str, str], ...] = ()

    @property
    def must_be_confined(self) -> bool:
        """Whether the command must not run outside a sandbox."""
        return self.confinement in ("must", "read_only")


class CommandResult(Struct, frozen=True):
    """How a command ended: its output, limited to head and tail, and the exit code, or None if it was killed.

    `signal` is the name of the signal that killed it, if known. `left_running` means that a process that it started is
    still running.
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
    """A problem that an editor reports in a file; lines and columns are counted from 1."""

    path: str
    line: int
    column: int
    severity: Literal["error", "warning", "information", "hint"]
    message: str
    source: str = ""


class Files(Protocol):
    """The folders a session may access, on this machine or, if `is_remote`, on another. All paths are absolute.

    Files are read and changed by the paths that `locate` returns; links created later are not followed.
    """

    cwd: str
    roots: tuple[str, ...]
    is_remote: bool

    def locate(self, path: str) -> str:
        """Resolve a path relative to the working directory, following links. Raises OutsideRoots."""
        ...

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        """Return a file's bytes, including the editor's unsaved changes, or None if there is no such file.

        With `for_edit`, raises EditorStateUnknown if unsaved changes cannot be ruled out.
        """
        ...

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a whole file, atomically."""
        ...

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return part of a file of any size as stored on disk, without unsaved changes."""
        ...

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        """Return whether `read` may differ from the stored file, given the file's `lines` starting at line `first`.

        This is cheap for a file of any size: an editor is asked only for these lines.
        """
        ...

    async def remove(self, path: str) -> None:
        """Delete a file. Raises WorkspaceError for anything else, such as a folder."""
        ...

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List a folder's entries."""
        ...

    async def find(self, query: FileQuery) -> FoundFiles:
        """Find files by name, respecting ignore files."""
        ...

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Find lines, respecting ignore files."""
        ...


class LiveProcess(Protocol):
    """A command running in the background; `is_confined` means that it runs in a sandbox."""

    name: str
    line: str
    is_confined: bool

    async def read(self, wait_s: float) -> OutputSnapshot:
        """Return the output since the last read; wait up to `wait_s` seconds for output or for the command to end.

        If there is too much, the middle is left out, and the text says where the full output is.
        """
        ...

    async def write(self, text: str) -> None:
        """Send input; a final U+0004 closes the input. Raises WorkspaceError if the process accepts no more."""
        ...

    async def kill(self) -> None:
        """Kill the process and everything it started; when this returns, none of these processes is left."""
        ...


class Commands(Protocol):
    """A machine that runs commands."""

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """The background processes that have not been discarded yet, by short name: p1, p2…."""
        ...

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in a sandbox here."""
        ...

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command until it ends; if cancelled, its whole process group is dead before this returns."""
        ...

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command in the background, in a new terminal if requested; `timeout_s` is ignored.

        Raises WorkspaceError if it cannot start or too many are running.
        """
        ...

    async def close(self) -> None:
        """Kill all processes that commands have left running."""
        ...


class Workspace(Files, Commands, Protocol):
    """The folders a session may access and the machine that runs its commands."""


class Editor(Protocol):
    """The files and terminals that an editor provides; either may be missing. All paths are absolute."""

    @property
    def reads_files(self) -> bool:
        """Whether files can be read through the editor."""
        ...

    @property
    def writes_files(self) -> bool:
        """Whether files can be written through the editor."""
        ...

    @property
    def runs_commands(self) -> bool:
        """Whether the editor has terminals."""
        ...

    async def read_text(self, path: str, first: int = 1, count: int = 0) -> str | None:
        """Return a file as the editor sees it, including unsaved changes, or None if the editor does not know the file.

        `count` limits the answer to that many lines, starting at line `first`. Raises EditorStateUnknown if the editor
        does not answer.
        """
        ...

    async def write_text(self, path: str, text: str) -> None:
        """Have the editor write a file. Raises WorkspaceError if it refuses."""
        ...

    async def run(self, command: Command, progress: Progress) -> CommandResult | None:
        """Run a command in one of the editor's terminals; return None if the editor turns out to have none.

        Raises WorkspaceError if the command may have started but contact with it was lost.
        """
        ...


class DiagnosticsProvider(Protocol):
    """The errors and warnings known to the session's editor."""

    async def file_diagnostics(self, path: str) -> Sequence[FileDiagnostic]:
        """Return the errors and warnings in a file or below a folder (absolute). Raises WorkspaceError."""
        ...
