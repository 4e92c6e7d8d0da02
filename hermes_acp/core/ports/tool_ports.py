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
        """What it says of all its calls."""
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
    """A prompt somebody wrote beforehand, which a user calls for by name; `hint` says what goes behind the name.

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
    """Things that can be read at one place elsewhere, such as the resources of an MCP server."""

    @property
    def name(self) -> str:
        """The place's name, as the user knows it."""
        ...

    async def contents(self, progress: Progress) -> Result:
        """List what there is."""
        ...

    async def read(self, uri: str, progress: Progress) -> Result:
        """Read one thing."""
        ...


class ToolSource(Protocol):
    """Further tools that come and go, such as those of MCP servers, and what comes with them."""

    async def run(self) -> None:
        """Be at work until closed or cancelled; whoever owns the source runs this once."""
        ...

    def tools(self) -> Mapping[str, Tool]:
        """Return what can be used now, by name; costs nothing."""
        ...

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the prompts that can be called for now, by name; costs nothing."""
        ...

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the places where something can be read now, by a short name; costs nothing."""
        ...

    def news(self) -> Sequence[str]:
        """Return sentences the user should read, as things stand; a session tells each once for as long as it
        stands.
        """
        ...

    async def settled(self) -> None:
        """Wait until it is known of everything here whether it can be used."""
        ...

    async def close(self) -> None:
        """End the work and wait for its end; also before it began."""
        ...


class ToolCaller(Protocol):
    """The tools of the turn that a call belongs to."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List what can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make one call within the call that `progress` is of: judged, asked about and shown like any other.

        `arguments` are JSON. Whatever goes wrong is the result.
        """
        ...
