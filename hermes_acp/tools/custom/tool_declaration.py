"""The declaration of a tool in its file."""

from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.event_types import Capability, ToolKind

DEFAULT_TIMEOUT_S: Final = 60.0
MAX_TIMEOUT_S: Final = 600.0
FileAccess = Literal["none", "read", "write"]


class ToolDeclaration(Struct, frozen=True):
    """A tool as declared in its file. `parameters` is a JSON Schema of an object.

    `files` is the access it needs to the session's folders, `network` the hosts it contacts, and `modules` the modules
    it imports besides the standard library. Without the tools in `needs`, it is not offered, because it is used with or
    after them.
    """

    name: str
    description: str
    parameters: dict[str, object]
    files: FileAccess = "read"
    network: tuple[str, ...] = ()
    processes: bool = False
    modules: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    timeout_s: float = DEFAULT_TIMEOUT_S

    @property
    def capabilities(self) -> frozenset[Capability]:
        """The capabilities that its calls may need."""
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
        """The kind of its calls, by their most far-reaching effect."""
        if self.processes:
            return "execute"
        if self.files == "write":
            return "edit"
        return "fetch" if self.network else "read"

    def abilities(self) -> str:
        """Describe to the user what the tool can do."""
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
    """An error that makes a tool file invalid, with its line (from 1; 0 is the whole file)."""

    line: int
    words: str

    def told(self, file: str) -> str:
        """Return the error with its location."""
        return f"{file}:{self.line}: {self.words}" if self.line else f"{file}: {self.words}"


class CheckedToolFile(Struct, frozen=True):
    """A checked file: its declaration if it is a valid tool, otherwise its errors.

    `imports` are the modules it imports, each listed once.
    """

    declaration: ToolDeclaration | None
    faults: tuple[ToolFileError, ...] = ()
    imports: tuple[str, ...] = ()
