"""Tools, and sources of additional tools."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Part, ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata


class Tool(Protocol):
    """A capability offered to the model; a plugin of `tools/builtin`, or part of a tool source."""

    name: str
    kind: ToolKind

    @property
    def tool_metadata(self) -> ToolMetadata:
        """What the tool declares about all its calls."""
        ...

    @property
    def arguments(self) -> type[Any] | dict[str, object]:
        """The model that validates arguments, or the JSON Schema of a tool that validates them itself."""
        ...

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal:
        """Turn a call into a proposal without any effect. Raises WorkspaceError or BadRequest if it cannot be done."""
        ...


class PromptTemplate(Protocol):
    """A predefined prompt that a user calls by name; `hint` describes what follows the name.

    `brings` lists the untrusted sources of its text.
    """

    name: str
    description: str
    hint: str
    brings: tuple[Source, ...]

    async def fill(self, words: str) -> tuple[Part, ...]:
        """Return the prompt with the words after its name filled in. Raises BadRequest."""
        ...


class ResourceLibrary(Protocol):
    """The resources of one external source, such as an MCP server."""

    @property
    def name(self) -> str:
        """The source's name, as the user knows it."""
        ...

    async def contents(self, progress: Progress) -> Result:
        """List the resources."""
        ...

    async def read(self, uri: str, progress: Progress) -> Result:
        """Read one resource."""
        ...


class ToolSource(Protocol):
    """Additional tools that come and go, such as those of MCP servers, with their prompts and resources."""

    async def run(self) -> None:
        """Run until closed or cancelled; the owner of the source calls this once."""
        ...

    def tools(self) -> Mapping[str, Tool]:
        """Return the available tools by name; cheap."""
        ...

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the available prompts by name; cheap."""
        ...

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the available resources by short name; cheap."""
        ...

    def news(self) -> Sequence[str]:
        """Return notices for the user about the current state; a session shows each once while it applies."""
        ...

    async def settled(self) -> None:
        """Wait until the availability of everything in this source is known."""
        ...

    async def close(self) -> None:
        """Stop the source and wait for its end; may be called before `run`."""
        ...


class ToolCaller(Protocol):
    """Calls the tools of the turn that a call belongs to."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List the tools that can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make a call within the call of `progress`; it is checked, approved and shown like any other.

        `arguments` is JSON. A failure is returned as the result.
        """
        ...
