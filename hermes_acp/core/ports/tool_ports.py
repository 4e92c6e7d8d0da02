"""Ports for tools, and for sources of additional tools."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import Source
from hermes_acp.core.messages import Part, ToolSchema
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata


class Tool(Protocol):
    """A capability offered to the model: a plugin in `tools/builtin`, or a tool from a tool source."""

    name: str
    kind: ToolKind

    @property
    def tool_metadata(self) -> ToolMetadata:
        """What the tool declares about all its calls."""
        ...

    @property
    def arguments(self) -> type[Any] | dict[str, object]:
        """The model that validates arguments, or the JSON Schema if the tool validates them itself."""
        ...

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        ...

    async def propose(self, arguments: Any, workspace: Workspace) -> Proposal:
        """Turn a call into a proposal without any side effects.

        Raises WorkspaceError or BadRequest if that is impossible.
        """
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
        """Return the prompt, filled in with the words that follow its name. Raises BadRequest."""
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
    """A source of tools that may change at any time, such as an MCP server, with its prompts and resources."""

    async def run(self) -> None:
        """Run until closed or cancelled; the owner of the source calls this once."""
        ...

    def tools(self) -> Mapping[str, Tool]:
        """Return the available tools by name; cheap to call."""
        ...

    def templates(self) -> Mapping[str, PromptTemplate]:
        """Return the available prompts by name; cheap to call."""
        ...

    def libraries(self) -> Mapping[str, ResourceLibrary]:
        """Return the available resource libraries by short name; cheap to call."""
        ...

    def news(self) -> Sequence[str]:
        """Return notices about the current state for the user; a session shows each once for as long as it applies."""
        ...

    async def settled(self) -> None:
        """Wait until it is known what this source offers."""
        ...

    async def close(self) -> None:
        """Stop the source and wait until it has ended; may be called before `run`."""
        ...


class ToolCaller(Protocol):
    """Lets a running call use the tools of its turn."""

    def names(self, progress: Progress) -> tuple[str, ...]:
        """List the names of the tools that can be called."""
        ...

    async def call(self, name: str, arguments: str, progress: Progress) -> Result:
        """Make a call within the call of `progress`; it is checked, approved and shown like any other.

        `arguments` is JSON. A failure is returned as the result.
        """
        ...
