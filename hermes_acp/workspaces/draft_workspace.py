"""A workspace that collects file changes as drafts, to be shown to the user before anything is written.

Open documents and drafts take precedence over the disk. Commands and searches see only saved content.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Final, Protocol

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
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
from hermes_acp.core.proposals import Progress

MAX_VISITED: Final = 1_000


class OpenDocuments(Protocol):
    """The documents that an editor has open."""

    def text_of(self, path: str) -> str | None:
        """Return an open document's text with unsaved changes, by its resolved path, or None if it is not open."""
        ...


class Draft(Struct, frozen=True):
    """A file's content before (None: it did not exist) and after the change (None: it will be deleted)."""

    path: str
    before: bytes | None
    after: bytes | None


class Drafts:
    """One workspace's pending changes, on top of the documents open in its editor."""

    def __init__(self, documents: OpenDocuments) -> None:
        self.documents = documents
        self._drafts: dict[str, Draft] = {}

    def get(self, path: str) -> Draft | None:
        """Return a file's draft by its resolved path."""
        return self._drafts.get(path)

    def put(self, path: str, before: bytes | None, after: bytes | None) -> None:
        """Store a change. Only the first change sets `before`; a file that ends up unchanged is no longer a draft."""
        first = self._drafts.pop(path, None)
        before = first.before if first else before
        if before != after:
            self._drafts[path] = Draft(path, before, after)

    def take(self) -> tuple[Draft, ...]:
        """Return all drafts in the order of their last changes, and clear them."""
        taken = tuple(self._drafts.values())
        self._drafts.clear()
        return taken

    def below(self, folder: str) -> tuple[Draft, ...]:
        """Return the drafts of files directly in a folder."""
        return tuple(draft for draft in self._drafts.values() if os.path.dirname(draft.path) == folder)


class DraftWorkspace:
    """One session's workspace, in which drafts take precedence over files."""

    def __init__(self, underlying: Workspace, drafts: Drafts) -> None:
        self.cwd = underlying.cwd
        self.roots = underlying.roots
        self.is_remote = underlying.is_remote
        self._underlying = underlying
        self._drafts = drafts
        self._looked_at: dict[str, bytes | None] = {}
        """The content of each file when it was last read for editing, on which a draft is based."""

    def locate(self, path: str) -> str:
        """Resolve a path. Raises OutsideRoots."""
        return self._underlying.locate(path)

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        """Return a file's draft, otherwise its open document, otherwise the stored file.

        If `for_edit`, record it as the base of a later change.
        """
        content = await self._read(path)
        if for_edit:
            self._looked_at[self.locate(path)] = content
            while len(self._looked_at) > MAX_VISITED:
                del self._looked_at[next(iter(self._looked_at))]
        return content

    async def _read(self, path: str) -> bytes | None:
        resolved = self.locate(path)
        if draft := self._drafts.get(resolved):
            return draft.after
        text = self._drafts.documents.text_of(resolved)
        return await self._underlying.read(path) if text is None else text.encode("utf-8", "replace")

    async def write(self, path: str, content: bytes) -> None:
        """Draft new content. Raises WorkspaceError if no editor can show it as text."""
        resolved = self._require_editable(path)
        before = await self._before(resolved)
        for each in (before, content):
            if each is not None and not _is_text(each):
                raise WorkspaceError(
                    f"{path} is not UTF-8 text, so the change cannot be shown to the user.",
                    hint="Only text files can be changed here.",
                )
        self._drafts.put(resolved, before, content)

    async def remove(self, path: str) -> None:
        """Draft a file's deletion. Raises WorkspaceError if there is no such file."""
        resolved = self._require_editable(path)
        before = await self._before(resolved)
        if before is None:
            raise WorkspaceError(f"There is no file {path}.")
        self._drafts.put(resolved, before, None)

    async def _before(self, resolved: str) -> bytes | None:
        if resolved in self._looked_at:
            return self._looked_at.pop(resolved)
        return await self.read(resolved)

    def _require_editable(self, path: str) -> str:
        resolved = self.locate(path)
        if resolved != os.path.normpath(path):
            raise WorkspaceError(
                f"{path} leads to {resolved} through a symbolic link.",
                hint="Use that path if you mean that file.",
            )
        return resolved

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a file's content as returned by `read`."""
        resolved = self.locate(path)
        if await self.differs_from_disk(resolved, 1, ()):
            content = await self.read(resolved)
            return None if content is None else FileChunk(content[start : start + size_bytes], len(content))
        return await self._underlying.read_range(path, start, size_bytes)

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        """Return whether a file has a draft or an open document, which are in memory anyway."""
        del first, lines
        resolved = self.locate(path)
        return bool(self._drafts.get(resolved)) or self._drafts.documents.text_of(resolved) is not None

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List one folder with its drafts applied."""
        resolved = self.locate(path)
        drafts = self._drafts.below(resolved)
        sizes = {entry.name: entry.size_bytes for entry in await self._underlying.entries(path)}
        for draft in drafts:
            name = os.path.basename(draft.path)
            if draft.after is None:
                sizes.pop(name, None)
            else:
                sizes[name] = len(draft.after)
        return [DirectoryEntry(name, sizes[name]) for name in sorted(sizes)]

    async def find(self, query: FileQuery) -> FoundFiles:
        """Find stored files by name."""
        return await self._underlying.find(query)

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Search stored files; unsaved changes are not searched."""
        return await self._underlying.search(query)

    @property
    def live(self) -> Mapping[str, LiveProcess]:
        """Return the launched processes."""
        return self._underlying.live

    def confines(self, command: Command) -> bool:
        """Return whether a command would run in a sandbox."""
        return self._underlying.confines(command)

    async def launch(self, command: Command, *, in_terminal: bool = False) -> LiveProcess:
        """Start a command and leave it running."""
        return await self._underlying.launch(command, in_terminal=in_terminal)

    async def run(self, command: Command, progress: Progress) -> CommandResult:
        """Run a command, which sees only stored files."""
        return await self._underlying.run(command, progress)

    async def close(self) -> None:
        """Kill what commands left running."""
        await self._underlying.close()


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode("utf-8")
    except UnicodeDecodeError:
        return False
