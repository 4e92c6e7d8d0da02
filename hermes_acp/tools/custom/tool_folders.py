"""Find tool files in their folders and read them.

A file's bytes are read once: what was checked, shown and trusted is what runs.
"""

import os
import stat
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.custom_tool_ports import ToolScope
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.tools.custom.tool_checker import MAX_BYTES, check_tool_source
from hermes_acp.tools.custom.tool_declaration import CheckedToolFile, ToolDeclaration, ToolFileError

WORKSPACE_FOLDER: Final = ".hermes/tools"
MAX_TOOLS: Final = 100


class ToolFile(Struct, frozen=True):
    """One file that is, or means to be, a tool; `digest` is of its bytes."""

    folder: Path
    name: str
    scope: ToolScope
    source: str
    digest: str
    checked: CheckedToolFile

    @property
    def path(self) -> Path:
        """Where it lies."""
        return self.folder / f"{self.name}.py"

    @property
    def declaration(self) -> ToolDeclaration | None:
        """What it declares, where it is a tool."""
        return self.checked.declaration

    def trust_item(self) -> TrustItem:
        """Return what a user trusts when they trust this tool: its content as it is now."""
        declared = self.declaration
        about = (
            f"{self.path}: {declared.description} ({declared.abilities()})" if declared else str(self.path)
        )
        return TrustItem("tool", self.name, self.digest, about)


class ToolFolders:
    """The folders of one user and of the workspaces they open; files that did not change are not read again."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._read: dict[Path, tuple[tuple[int, int, int], ToolFile]] = {}

    def folder(self, scope: ToolScope, cwd: str) -> Path:
        """Say where the tools of a scope lie, for sessions in `cwd`; links are followed."""
        place = self._home / "tools" if scope == "user" else Path(cwd) / WORKSPACE_FOLDER
        return Path(os.path.realpath(place))

    def files(self, scope: ToolScope, cwd: str) -> tuple[ToolFile, ...]:
        """Return the files of a scope, by name, each checked. Blocks."""
        folder = self.folder(scope, cwd)
        try:
            names = sorted(
                name for name in os.listdir(folder) if name.endswith(".py") and name[0] not in "._"
            )
        except OSError:
            return ()
        found = (self._file(folder, name.removesuffix(".py"), scope) for name in names[:MAX_TOOLS])
        return tuple(file for file in found if file is not None)

    def _file(self, folder: Path, name: str, scope: ToolScope) -> ToolFile | None:
        path = folder / f"{name}.py"
        with suppress(OSError):
            about = os.lstat(path)
            mark = (about.st_mtime_ns, about.st_size, about.st_ino)
            known = self._read.get(path)
            if known and known[0] == mark:
                return known[1]
            file = read_tool_file(path, scope)
            self._read[path] = (mark, file)
            return file
        return None


def read_tool_file(path: Path, scope: ToolScope = "user") -> ToolFile:
    """Read and check one file, which must not have the name of a builtin tool. Raises OSError."""
    content = _content(path)
    try:
        source = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        source = ""
        line = content[: error.start].count(b"\n") + 1
        checked = CheckedToolFile(None, (ToolFileError(line, "it is not UTF-8."),))
    else:
        checked = check_tool_source(source, path.stem, builtin_names())
    return ToolFile(path.parent, path.stem, scope, source, sha256(content).hexdigest(), checked)


def builtin_names() -> tuple[str, ...]:
    """Return the names that no own tool may have."""
    return PluginFolder[Tool]("hermes_acp.tools.builtin", "TOOL").names()


def _content(path: Path) -> bytes:
    """Return a regular file's bytes, at most one more than a tool may have; a link at its end is not followed."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read(MAX_BYTES + 1)
