"""A workspace that is open in an editor. It uses the editor's files and terminals first, then the machine's own.

Unsaved changes take precedence, so reads go to the editor; files that the editor cannot open (binary, huge, not UTF-8)
are read from the disk. If the editor refuses a write, the write fails; it never bypasses the editor.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from msgspec import structs

from hermes_acp.core.errors import EditorStateUnknown
from hermes_acp.core.ports.workspace_ports import (
    Command,
    CommandResult,
    DirectoryEntry,
    Editor,
    FileChunk,
    FileQuery,
    FoundFiles,
    LiveProcess,
    SearchMatch,
    SearchQuery,
    Workspace,
)
from hermes_acp.core.proposals import Progress

MAX_UNSAVED: Final = 1_000


class EditorWorkspace:
    """One session's workspace, accessed through its editor."""

    def __init__(
        self,
        editor: Editor,
        local: Workspace,
        variables: Callable[[], Mapping[str, str]] | None = None,
        *,
        handles_commands: bool = True,
    ) -> None:
        """Initialise with the workspace on disk, `local`. In the editor's terminals, `variables` override its own.

        `handles_commands` is set only if the editor's terminals are on the machine where commands should run.
        """
        self._takes_commands = handles_commands
        self._variables = variables
        self.cwd = local.cwd
        self.roots = local.roots
        self.is_remote = local.is_remote
        self._editor = editor
        self._local = local
        self._unsaved: dict[str, None] = {}
        """The files whose text in the editor differed from the disk when they were last read whole."""

    def locate(self, path: str) -> str:
        """Resolve a path on the machine that the editor shares with the agent. Raises OutsideRoots."""
        return self._local.locate(path)

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        """Return the editor's text if it has any; otherwise read the disk.

        If `for_edit`, raises EditorStateUnknown if the editor may hold unsaved changes.
        """
        try:
            return await self._read(path)
        except EditorStateUnknown:
            if for_edit:
                raise
            return await self._local.read(path)

    async def _read(self, path: str) -> bytes | None:
        """Read through the editor, after checking the disk so that the editor is not asked for huge or binary files."""
        on_disk = await self._local.read(path)
        if not self._editor.reads_files or (on_disk is not None and not _is_text(on_disk)):
            return on_disk
        try:
            text = await self._editor.read_text(path)
        except EditorStateUnknown:
            if on_disk is None:
                return None
            raise
        self._unsaved.pop(path, None)
        if text is None or (on_disk is None and not text):
            return on_disk
        if on_disk is not None and _lines(on_disk.decode("utf-8")) == _lines(text):
            return on_disk
        self._unsaved[path] = None
        while len(self._unsaved) > MAX_UNSAVED:
            del self._unsaved[next(iter(self._unsaved))]
        return text.encode("utf-8", "replace")

    async def write(self, path: str, content: bytes) -> None:
        """Write through the editor and verify; if it reports success without writing, write to the disk."""
        if not self._editor.writes_files or not _is_text(content):
            await self._local.write(path, content)
            return
        before = await self._local.read(path)
        await self._editor.write_text(path, content.decode("utf-8"))
        if before is None and await self._local.read(path) is None:
            await self._local.write(path, content)

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a file on disk."""
        return await self._local.read_range(path, start, size_bytes)

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        """Compare only these lines with the editor; changes elsewhere are found when the file is read for an edit."""
        if not self._editor.reads_files or not lines:
            return False
        if path in self._unsaved:
            return True
        try:
            text = await self._editor.read_text(path, first, len(lines))
        except EditorStateUnknown:
            return False
        if text is None:
            return False
        theirs = _lines(text)
        return (theirs[:-1] if len(theirs) > len(lines) and not theirs[-1] else theirs) != list(lines)

    async def remove(self, path: str) -> None:
        """Delete a file on disk, because editors have no method for that."""
        await self._local.remove(path)

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List one folder on disk."""
        return await self._local.entries(path)

    async def find(self, query: FileQuery) -> FoundFiles:
        """Find files on disk by name."""
        return await self._local.find(query)

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Search the disk; unsaved changes are not searched."""
        return await self._local.search(query)

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the processes launched on this machine."""
        return self._local.live

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in this machine's sandbox."""
        return self._local.confines(command)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command on this machine, because an editor's terminal takes no input from us."""
        return await self._local.launch(command, in_terminal=in_terminal)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command in an editor terminal, or on this machine if the editor starts none or a sandbox is needed."""
        is_bound = command.must_be_confined or self._local.confines(command)
        is_free = not command.is_quiet and not is_bound
        if self._takes_commands and self._editor.runs_commands and is_free:
            over = tuple(self._variables().items()) if self._variables else ()
            end = await self._editor.run(structs.replace(command, variables=over), progress)
            if end is not None:
                return end
        return await self._local.run(command, progress)

    async def close(self) -> None:
        """Kill what commands left running on this machine; the editor ends its own terminals."""
        await self._local.close()


def _is_text(content: bytes) -> bool:
    if b"\0" in content[:8192]:
        return False
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _lines(text: str) -> list[str]:
    """Split into lines so that they can be compared regardless of line endings, which some editors normalise."""
    return text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
