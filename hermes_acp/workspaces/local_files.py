"""Files on this machine, confined to the session's folders.

A path is resolved once, by `locate`. Later operations do not follow links, so they act on the checked path.
"""

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.errors import OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import (
    DirectoryEntry,
    FileChunk,
    FileQuery,
    FoundFiles,
    SearchMatch,
    SearchQuery,
)
from hermes_acp.workspaces import disk_files, path_confinement, ripgrep
from hermes_acp.workspaces.sandboxed_search import SandboxedSearch, search_directly

MAX_CACHED: Final = 1_000


class LocalFiles:
    """Files beneath `roots`; searches skip the folder `private`, and `outputs` returns read-only folders.

    `environment` returns the variables of search programs; `sandboxed` runs those while commands are
    running.
    """

    def __init__(
        self,
        cwd: str,
        roots: tuple[str, ...],
        environment: Callable[[], Mapping[str, str]],
        *,
        private: str = "",
        outputs: Callable[[], tuple[str, ...]] = tuple,
        sandboxed: SandboxedSearch = search_directly,
    ) -> None:
        self.cwd = cwd
        self.roots = roots
        self.is_remote = False
        self._environment = environment
        self._private = private
        self._outputs = outputs
        self._sandboxed = sandboxed
        self._threads = CapacityLimiter(4)
        self._known: dict[str, disk_files.FileSnapshot] = {}
        """The identity of each file when it was last read for editing, by path; only that same file is written."""

    def locate(self, path: str) -> str:
        """Resolve a path relative to `cwd`, following links. Raises OutsideRoots."""
        try:
            return path_confinement.locate(path, self.cwd, self.roots)
        except OutsideRoots as outside:
            if not self._outputs():
                raise
            try:
                return path_confinement.locate(path, self.cwd, self._outputs())
            except OutsideRoots:
                raise outside from None

    def _readable(self) -> tuple[str, ...]:
        return (*self.roots, *self._outputs())

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        """Return a regular file's bytes, or None if there is no such file; an edit changes only that same file."""
        known = await self._read_snapshot(path)
        if not for_edit:
            return known.content
        self._known[path] = structs.replace(known, content=None)
        while len(self._known) > MAX_CACHED:
            del self._known[next(iter(self._known))]
        return known.content

    async def _read_snapshot(self, path: str) -> disk_files.FileSnapshot:
        """Read a file in the page cache without using a thread, which would take longer to wake up."""
        readable = self._readable()
        known = disk_files.peek_at(path, readable)
        return known or await run_sync(disk_files.read_snapshot, path, readable, limiter=self._threads)

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a regular file of any size, or None if there is no such file."""
        readable = self._readable()
        return await run_sync(disk_files.read_range, path, start, size_bytes, readable, limiter=self._threads)

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        """Return False, because `read` reads the disk."""
        del path, first, lines
        return False

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a whole file. Raises WorkspaceError if a link redirects `path`."""
        known = self._known.pop(path, None)
        await run_sync(disk_files.replace_file, path, content, self.roots, known, limiter=self._threads)

    async def remove(self, path: str) -> None:
        """Delete a regular file. Raises WorkspaceError for anything else, or if a link redirects `path`."""
        await run_sync(disk_files.remove_file, path, self.roots, limiter=self._threads)

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List one folder by name."""
        return await run_sync(disk_files.list_folder, path, self._readable(), limiter=self._threads)

    async def find(self, query: FileQuery) -> FoundFiles:
        """Find files by name, honouring ignore files; hidden files are included, `.git` is not."""
        path, excluded = self._searched(query.path, query.excluded)
        if path is None:
            return FoundFiles()
        place = structs.replace(query, path=path, excluded=excluded)
        return await ripgrep.find(place, self._environment(), self.roots, sandboxed=self._sandboxed)

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Find lines, honouring ignore files; hidden files are included, `.git` is not."""
        path, excluded = self._searched(query.path, query.excluded)
        if path is None:
            return []
        place = structs.replace(query, path=path, excluded=excluded)
        return await ripgrep.search(place, self._environment(), self.roots, sandboxed=self._sandboxed)

    def _searched(self, path: str, excluded: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
        """Return the path to search and the paths to skip; the former is None if all of it is private."""
        path = self.locate(path)
        if not os.path.exists(path):
            raise WorkspaceError(f"{path} does not exist, so it cannot be searched.", hint="Check the path.")
        if not os.path.isdir(path) and not os.path.isfile(path):  # opening a pipe would wait for a writer
            raise WorkspaceError(
                f"{path} is neither a regular file nor a folder.", hint="Search a file or a folder."
            )
        if self._private and path_confinement.is_within(path, self._private):
            return None, excluded
        if self._private and path_confinement.is_within(self._private, path):
            return path, (*excluded, "/" + glob.escape(os.path.relpath(self._private, path)))
        return path, excluded
