"""Tools, and sources of further tools."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Part, ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata


class Tool(Protocol):
    """One capability offered to the model; a plugin of `tools/builtin`, or of a tool source."""

    name: str
    kind: ToolKind

    @property
    def tool_metadata(self) -> ToolMetadata:
        """What the tool declares of all its calls."""
        ...

    @property
    def arguments(self) -> type[Any] | dict[str, object]:
        """The model that checks arguments, or the JSON Schema of a tool that checks them itself."""
        ...

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal:
        """Understand a call without any effect. Raises WorkspaceError or BadRequest for what cannot be done."""
        ...


class PromptTemplate(Protocol):
    """A prompt written beforehand that a user calls by name; `hint` describes what follows the name.

    `brings` are the untrusted sources that its words come from.
    """

    name: str
    description: str
    hint: str
    brings: tuple[Source, ...]

    async def fill(self, words: str) -> tuple[Part, ...]:
        """Return the prompt with the words behind its name filled in. Raises BadRequest."""
        ...


class ResourceLibrary(Protocol):
    """Resources of one place elsewhere, such as those of an MCP server."""

    @property
    def name(self) -> str:
        """The place's name, as the user knows it."""
        ...

    async def contents(self, progress: Progress) -> Result:
        """List the resources."""
        ...

    async def read(self, uri: str, progress: Progress) -> Result:
        """Read one resource."""
        ...


class ToolSource(Protocol):
    """Further tools that come and go, such as those of MCP servers, with their prompts and resources."""

    async def run(self) -> None:
        """Run until closed or cancelled; the owner of the source calls this once."""
        ...

    def tools(self) -> Mapping[str, Tool]:
        """Return the available tools by name; costs nothing."""
        ...

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the available prompts by name; costs nothing."""
        ...

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the available resources by a short name; costs nothing."""
        ...

    def news(self) -> Sequence[str]:
        """Return sentences for the user on the present state; a session shows each once while it stands."""
        ...

    async def settled(self) -> None:
        """Wait until it is known of everything here whether it is available."""
        ...

    async def close(self) -> None:
        """Stop the work and wait for its end; also before it started."""
        ...


class ToolCaller(Protocol):
    """The tools of the turn that a call belongs to."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List the tools that can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make a call within the call of `progress`; it is checked, asked about and shown like any other.

        `arguments` are JSON. Any failure is the result.
        """
        ...
