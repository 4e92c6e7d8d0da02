"""The files of this machine, confined to the session's folders.

Knows: the folders, and the one beside them from which files may be read as well. Does not know: commands, editors.
A path is resolved once, by `locate`: what is done with it later follows no link, so that it is what was judged.
"""

import glob
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.errors import OutsideRoots, WorkspaceTrouble
from hermes_acp.core.exchanges import Entry, FileQuery, Match, Piece, SearchQuery
from hermes_acp.workspaces import confine, disk, ripgrep
from hermes_acp.workspaces.searches_apart import Apart, nobody_at_work

MOST_KNOWN: Final = 1_000


class LocalFiles:
    """Files beneath `roots`; `private` is a folder no search looks into, `outputs` gives folders only read from.

    `environment` gives the variables of programs that search; `apart` runs them while commands are at work.
    """

    def __init__(
        self,
        cwd: str,
        roots: tuple[str, ...],
        environment: Callable[[], Mapping[str, str]],
        *,
        private: str = "",
        outputs: Callable[[], tuple[str, ...]] = tuple,
        apart: Apart = nobody_at_work,
    ) -> None:
        self.cwd = cwd
        self.roots = roots
        self.is_far = False
        self._environment = environment
        self._private = private
        self._outputs = outputs
        self._apart = apart
        self._threads = CapacityLimiter(4)
        self._known: dict[str, disk.Known] = {}
        """Which of the disk's files was last looked at to be changed, by path: what is written is that one."""

    def locate(self, path: str) -> str:
        """Resolve a path, relative ones from cwd, links followed. Raises OutsideRoots."""
        try:
            return confine.locate(path, self.cwd, self.roots)
        except OutsideRoots as outside:
            if not self._outputs():
                raise
            try:
                return confine.locate(path, self.cwd, self._outputs())
            except OutsideRoots:
                raise outside from None

    def _readable(self) -> tuple[str, ...]:
        return (*self.roots, *self._outputs())

    async def read(self, path: str) -> bytes | None:
        """Give a regular file's bytes; None where there is no such file."""
        return (await self._look_at(path)).content

    async def read_to_change(self, path: str) -> bytes | None:
        """Give a regular file's bytes: the disk holds nothing unsaved."""
        known = await self._look_at(path)
        self._known[path] = structs.replace(known, content=None)
        while len(self._known) > MOST_KNOWN:
            del self._known[next(iter(self._known))]
        return known.content

    async def _look_at(self, path: str) -> disk.Known:
        """Look at once at what is in memory: a thread would take longer to wake up."""
        readable = self._readable()
        known = disk.glance_at(path, readable)
        return known or await run_sync(disk.look_at, path, readable, limiter=self._threads)

    async def read_piece(self, path: str, start: int, size_bytes: int) -> Piece | None:
        """Give a part of a regular file however large; None where there is no such file."""
        readable = self._readable()
        return await run_sync(disk.read_piece, path, start, size_bytes, readable, limiter=self._threads)

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a file whole. Raises WorkspaceTrouble where a link leads `path` elsewhere."""
        known = self._known.pop(path, None)
        await run_sync(disk.replace_file, path, content, self.roots, known, limiter=self._threads)

    async def remove(self, path: str) -> None:
        """Take a regular file away. Raises WorkspaceTrouble for anything else, and for what a link leads elsewhere."""
        await run_sync(disk.remove_file, path, self.roots, limiter=self._threads)

    async def entries(self, path: str) -> Sequence[Entry]:
        """List one folder, by name."""
        return await run_sync(disk.list_folder, path, self._readable(), limiter=self._threads)

    async def find(self, query: FileQuery) -> Sequence[str]:
        """Find files by name, honouring ignore files; hidden files count, `.git` does not. The newest come first."""
        path, leaves_out = self._searched(query.path, query.leaves_out)
        if path is None:
            return []
        place = structs.replace(query, path=path, leaves_out=leaves_out)
        return await ripgrep.find(place, self._environment(), self.roots, apart=self._apart)

    async def search(self, query: SearchQuery) -> Sequence[Match]:
        """Find lines, honouring ignore files; hidden files count, `.git` does not."""
        path, leaves_out = self._searched(query.path, query.leaves_out)
        if path is None:
            return []
        place = structs.replace(query, path=path, leaves_out=leaves_out)
        return await ripgrep.search(place, self._environment(), self.roots, apart=self._apart)

    def _searched(self, path: str, leaves_out: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
        """Give where to search and what to pass over; no path where all of it is private."""
        path = self.locate(path)
        if not os.path.exists(path):
            raise WorkspaceTrouble(f"There is no {path} to search.", hint="Check the path.")
        if not os.path.isdir(path) and not os.path.isfile(path):  # who opens a pipe waits for a writer
            raise WorkspaceTrouble(
                f"{path} is no regular file and no folder.", hint="Search in one of these."
            )
        if self._private and confine.is_within(path, self._private):
            return None, leaves_out
        if self._private and confine.is_within(self._private, path):
            return path, (*leaves_out, "/" + glob.escape(os.path.relpath(self._private, path)))
        return path, leaves_out
