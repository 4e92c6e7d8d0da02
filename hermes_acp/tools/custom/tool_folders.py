"""Find tool files in their folders and read them.

Each file is read once: the bytes that were checked, shown and trusted are the bytes that run.
"""

import os
import stat
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.custom_tool_ports import ToolScope
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.tools.custom.tool_checker import MAX_BYTES, check_tool_source
from hermes_acp.tools.custom.tool_declaration import CheckedToolFile, ToolDeclaration, ToolFileError

WORKSPACE_FOLDER: Final = ".hermes/tools"
MAX_TOOLS: Final = 100


class ToolFile(Struct, frozen=True):
    """A file that is, or is meant to be, a tool; `digest` is computed from its bytes."""

    folder: Path
    name: str
    scope: ToolScope
    source: str
    digest: str
    checked: CheckedToolFile

    @property
    def path(self) -> Path:
        """The file's path."""
        return self.folder / f"{self.name}.py"

    @property
    def declaration(self) -> ToolDeclaration | None:
        """The file's declaration, if it is a valid tool."""
        return self.checked.declaration

    def trust_item(self) -> TrustItem:
        """Return what the user trusts when they trust this tool: its current content."""
        declared = self.declaration
        about = (
            f"{self.path}: {declared.description} ({declared.abilities()})" if declared else str(self.path)
        )
        return TrustItem("tool", self.name, self.digest, about)


class ToolFolders:
    """The tool folders of one user and of their workspaces; unchanged files are not read again."""

    def __init__(self, home: Path, is_foreign: Callable[[str], bool] = lambda _: False) -> None:
        """Initialise without reading anything; `is_foreign` returns whether a path belongs to another profile."""
        self._home = home
        self._is_foreign = is_foreign
        self._read: dict[Path, tuple[tuple[int, int, int], ToolFile]] = {}

    def folder(self, scope: ToolScope, cwd: str) -> Path:
        """Return the tool folder of a scope for sessions in `cwd`, with links resolved.

        Raises BadRequest if it belongs to another profile.
        """
        place = self._home / "tools" if scope == "user" else Path(cwd) / WORKSPACE_FOLDER
        folder = Path(os.path.realpath(place))
        if self._is_foreign(str(folder.parent)):
            raise BadRequest(
                f"{folder.parent} belongs to another profile.", hint="Write the tool for the user instead."
            )
        return folder

    def files(self, scope: ToolScope, cwd: str) -> tuple[ToolFile, ...]:
        """Return the checked files of a scope, sorted by name. Blocks."""
        try:
            folder = self.folder(scope, cwd)
            names = sorted(
                name for name in os.listdir(folder) if name.endswith(".py") and name[0] not in "._"
            )
        except (OSError, BadRequest):
            return ()
        found = (self._file(folder, name.removesuffix(".py"), scope) for name in names[:MAX_TOOLS])
        return tuple(file for file in found if file is not None)

    def _file(self, folder: Path, name: str, scope: ToolScope) -> ToolFile | None:
        path = folder / f"{name}.py"
        if path.is_symlink() and self._is_foreign(str(path)):
            return None
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
    """Read and check one file, which must not share the name of a builtin tool. Raises OSError."""
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
    """Return the names of builtin tools, which no custom tool may have."""
    return PluginFolder[Tool]("hermes_acp.tools.builtin", "TOOL").names()


def _content(path: Path) -> bytes:
    """Return a regular file's bytes, up to one more than the limit, without following a final symlink."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path} is not a regular file")
        return file.read(MAX_BYTES + 1)
