"""What a tool file declares about itself."""

from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.event_types import Capability, ToolKind

DEFAULT_TIMEOUT_S: Final = 60.0
MAX_TIMEOUT_S: Final = 600.0
FileAccess = Literal["none", "read", "write"]


class ToolDeclaration(Struct, frozen=True):
    """A tool as its file declares it. `parameters` is a JSON Schema of an object.

    `files` is what it does with the session's folders, `network` are the hosts it speaks to, `modules` what it imports
    beside the standard library.
    """

    name: str
    description: str
    parameters: dict[str, object]
    files: FileAccess = "read"
    network: tuple[str, ...] = ()
    processes: bool = False
    modules: tuple[str, ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def capabilities(self) -> frozenset[Capability]:
        """What its calls may have to do with."""
        found: set[Capability] = set()
        if self.files != "none":
            found.add("files")
        if self.network:
            found.add("network")
        if self.processes:
            found.add("processes")
        return frozenset(found)

    @property
    def kind(self) -> ToolKind:
        """The kind of its calls: the farthest-reaching thing they do."""
        if self.processes:
            return "execute"
        if self.files == "write":
            return "edit"
        return "fetch" if self.network else "read"

    def abilities(self) -> str:
        """Say for people what it can do."""
        files = {
            "none": "sees no files",
            "read": "reads the session's folders",
            "write": "changes files in the session's folders",
        }
        said = [files[self.files]]
        said.append(f"connects to {', '.join(self.network)}" if self.network else "no network")
        if self.processes:
            said.append("starts programs")
        if self.modules:
            said.append(f"imports {', '.join(self.modules)}")
        return "; ".join(said)


class ToolFileError(Struct, frozen=True):
    """Something that keeps a file from being a tool, by its line (from 1; 0 is the whole file)."""

    line: int
    words: str

    def told(self, file: str) -> str:
        """Say it with its place."""
        return f"{file}:{self.line}: {self.words}" if self.line else f"{file}: {self.words}"


class CheckedToolFile(Struct, frozen=True):
    """A file that was looked at: its declaration where it is a tool, what is wrong where it is none.

    `imports` are the modules it names, each once.
    """

    declaration: ToolDeclaration | None
    faults: tuple[ToolFileError, ...] = ()
    imports: tuple[str, ...] = ()
