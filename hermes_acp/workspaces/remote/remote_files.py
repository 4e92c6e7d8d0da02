"""Files on a remote machine, confined to the session's folders there.

A path is normalised locally as text, and used remotely only if it contains no link. A link's target must be named
directly, so that it is checked under its own name.
"""

import os
from collections.abc import Sequence
from secrets import token_hex
from typing import Final, NoReturn

from hermes_acp.core.errors import FileTooLarge, OutsideRoots, WorkspaceError
from hermes_acp.core.ports.workspace_ports import (
    MAX_WHOLE_FILE_BYTES,
    DirectoryEntry,
    FileChunk,
    FileQuery,
    FoundFiles,
    SearchMatch,
    SearchQuery,
)
from hermes_acp.workspaces import ripgrep
from hermes_acp.workspaces.path_confinement import MAX_PATH_CHARS, is_within, plain_path
from hermes_acp.workspaces.remote import file_scripts
from hermes_acp.workspaces.remote.remote_host import Host
from hermes_acp.workspaces.remote.remote_search_results import read_file_list, read_search, split_search_end

MAX_FOUND_BYTES: Final = 8 * 1024 * 1024


class RemoteFiles:
    """Files beneath `roots` on a host."""

    def __init__(self, host: Host, cwd: str, roots: tuple[str, ...]) -> None:
        self.cwd = cwd
        self.roots = roots
        self.is_remote = True
        self._host = host

    def locate(self, path: str) -> str:
        """Resolve a path as text, relative to `cwd`. Raises OutsideRoots."""
        written = plain_path(path)
        if not written or "\0" in written or len(os.fsencode(written)) > MAX_PATH_CHARS:
            raise WorkspaceError(
                f"{path[:80]!r} is not a usable path.",
                hint=f"A path has 1 to {MAX_PATH_CHARS} bytes and none of them is NUL.",
            )
        resolved = os.path.normpath(os.path.join(self.cwd, written))
        resolved = "/" + resolved.lstrip("/")
        if not any(is_within(resolved, root) for root in self.roots) or is_within(resolved, "/proc"):
            raise OutsideRoots(
                f"{path} is outside the folders of this session on {self._host.name}: {', '.join(self.roots)}.",
                hint="Use a path inside one of them.",
            )
        return resolved

    async def read(self, path: str, *, for_edit: bool = False) -> bytes | None:
        """Return a regular file's bytes, or None if there is no such file."""
        del for_edit
        place = self.locate(path)
        script = file_scripts.read_script(place, MAX_WHOLE_FILE_BYTES)
        held = await self._content(place, script)
        return held[1] if held else None

    async def read_range(self, path: str, start: int, size_bytes: int) -> FileChunk | None:
        """Return a part of a regular file of any size, or None if there is no such file."""
        place = self.locate(path)
        script = file_scripts.piece_script(place, start, size_bytes)
        held = await self._content(place, script)
        return FileChunk(held[1], held[0]) if held else None

    async def differs_from_disk(self, path: str, first: int, lines: Sequence[str]) -> bool:
        """Return False, because remote files have no unsaved changes."""
        del path, first, lines
        return False

    async def _content(self, place: str, script: str) -> tuple[int, bytes] | None:
        done = await self._host.call(script)
        head, _, content = done.output.partition(b"\n")
        if head.strip() == b"missing":
            return None
        self._require(b"holds", done.output, place, "read")
        return int(head.split()[1]), content

    async def write(self, path: str, content: bytes) -> None:
        """Replace or create a whole file. Raises WorkspaceError if a link redirects `path`."""
        place, token = self.locate(path), token_hex(6)
        root = max((root for root in self.roots if is_within(place, root)), key=len)
        source = f"{self._host.folder}/{token}"
        await self._host.put(source, content)
        done = await self._host.call(file_scripts.write_script(place, root, source, token))
        self._require(b"done", done.output, place, "write")

    async def remove(self, path: str) -> None:
        """Delete a regular file. Raises WorkspaceError for anything else."""
        place = self.locate(path)
        done = await self._host.call(file_scripts.remove_script(place))
        self._require(b"done", done.output, place, "remove")

    async def entries(self, path: str) -> Sequence[DirectoryEntry]:
        """List one folder by name; a link to a folder counts as a folder."""
        place = self.locate(path)
        done = await self._host.call(file_scripts.list_script(place))
        head, _, rest = done.output.partition(b"\n")
        if head.strip() == b"missing":
            raise WorkspaceError(f"There is no folder {place}.", hint="Check the path.")
        self._require(b"holds", done.output, place, "list")
        folders, _, sizes = rest.rpartition(b"\0")
        names = {os.fsdecode(name) for name in folders.split(b"\0") if name}
        listed = (line.decode("utf-8", "surrogateescape").partition(" ") for line in sizes.splitlines())
        found = {name.removeprefix("./"): int(size) for size, _, name in listed if size.isdigit()}
        entries = [
            DirectoryEntry(f"{name}/", 0) if f"{name}/" in names else DirectoryEntry(name, size)
            for name, size in found.items()
        ]
        return sorted(entries, key=lambda entry: entry.name)

    async def search(self, query: SearchQuery) -> Sequence[SearchMatch]:
        """Find lines with ripgrep, honouring ignore files, if the host has it; otherwise with grep, which does not."""
        ripgrep.refuse_long_pattern(query)
        place = self.locate(query.path)
        done = await self._host.call(file_scripts.search_script(query, place, MAX_FOUND_BYTES))
        how, _, output = done.output.partition(b"\n")
        if how not in (b"rg", b"grep"):
            self._raise_refusal(done.output, place, "search")
        whole, end = split_search_end(output, query)
        matches = read_search(whole, query, place, by_ripgrep=how == b"rg")
        if sum(not match.is_context for match in matches) >= query.limit:
            return matches
        return ripgrep.with_end(query, matches, end)

    async def find(self, query: FileQuery) -> FoundFiles:
        """Find files by name, newest first; ignore files are honoured if the host has ripgrep."""
        place = self.locate(query.path)
        done = await self._host.call(file_scripts.find_script(query, place, MAX_FOUND_BYTES))
        head, _, output = done.output.partition(b"\n")
        if head != b"found":
            self._raise_refusal(done.output, place, "search")
        paths = read_file_list(output, query, place)
        return FoundFiles(tuple(paths), len(paths))

    def _require(self, wanted: bytes, output: bytes, place: str, doing: str) -> None:
        """Raise WorkspaceError unless a script's answer starts with the wanted word."""
        if not output.startswith(wanted):
            self._raise_refusal(output, place, doing)

    def _raise_refusal(self, output: bytes, place: str, doing: str) -> NoReturn:
        word, _, value = output.decode("utf-8", "replace").strip().partition(" ")
        match word:
            case "link":
                self._refuse_link(place, os.path.normpath(value))
            case "missing":
                raise WorkspaceError(f"There is no {place}.", hint="Check the path.")
            case "folder":
                raise WorkspaceError(f"{place} is a folder.", hint="List it instead.")
            case "odd":
                raise WorkspaceError(
                    f"{place} is not a regular file.", hint="Only regular files can be read and written."
                )
            case "nofolder":
                raise WorkspaceError(f"{place} is not a folder.", hint="Read it instead.")
            case "large":
                raise FileTooLarge(
                    f"{place} has {int(value):,} bytes; files above {MAX_WHOLE_FILE_BYTES:,} are not read whole.",
                    hint="Search it, or print a part of it with a command such as sed -n '1,200p'.",
                )
            case "shared":
                raise WorkspaceError(
                    f"{place} is one of {value} hard links to one file; others may lie outside this session.",
                    hint="Make it a separate file first: cp it aside, mv the copy over it; then write again.",
                )
            case _:
                raise WorkspaceError(
                    f"Could not {doing} {place} on {self._host.name}.",
                    hint="The user there lacks permission, or the disk is full.",
                )

    def _refuse_link(self, place: str, target: str) -> NoReturn:
        if any(is_within(target, root) for root in self.roots):
            raise WorkspaceError(
                f"{place} leads to {target} through a symbolic link.",
                hint="Use that path if you mean that file.",
            )
        raise OutsideRoots(
            f"{place} leads to {target}, which is outside the folders of this session: {', '.join(self.roots)}.",
            hint="Use a path inside one of them.",
        )
