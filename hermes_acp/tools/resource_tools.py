"""The tools that list and read external resources, such as those of MCP servers.

They are not in the plugin folder, because a turn has them only if there is a server to read from.
"""

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import ToolKind
from hermes_acp.core.flow_labels import SERVER_LISTS
from hermes_acp.core.messages import ToolSchema
from hermes_acp.core.ports.tool_ports import ResourceLibrary, Tool
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.proposals import Calls, Progress, Proposal, Result
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.tools.tool_schemas import schema_of

READING = "resources/read"


def resource_tools(libraries: Mapping[str, ResourceLibrary]) -> dict[str, Tool]:
    """Return both tools for the libraries of one turn, by their short names."""
    tools: tuple[Tool, ...] = (ListResources(libraries), ReadResource(libraries))
    return {tool.name: tool for tool in tools}


class ListResourcesArguments(BaseModel):
    """The server whose resources to list, or all servers."""

    model_config = ConfigDict(extra="forbid")

    server: str | None = None


class ReadResourceArguments(BaseModel):
    """A server and the URI of one of its resources."""

    model_config = ConfigDict(extra="forbid")

    server: str
    uri: str


class ListResources:
    """List the available resources."""

    name = "list_mcp_resources"
    kind: ToolKind = "search"
    tool_metadata = ToolMetadata(
        capabilities=frozenset({"network"}), is_repeatable=True, brings=(SERVER_LISTS,)
    )
    arguments: type[BaseModel] = ListResourcesArguments

    def __init__(self, libraries: Mapping[str, ResourceLibrary]) -> None:
        self._libraries = libraries

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = f"List the resources of the MCP servers, or of one. They are: {', '.join(sorted(self._libraries))}."
        return schema_of(self.name, about, ListResourcesArguments)

    async def propose(self, arguments: ListResourcesArguments, workspace: Workspace) -> Proposal:
        """Propose a call; a server's resource list is requested like its tool list and has no effects."""
        del workspace
        chosen = [_find(self._libraries, arguments.server)] if arguments.server else self._libraries.values()

        async def ask(progress: Progress) -> Result:
            listed = [await library.contents(progress) for library in chosen]
            return Result("\n".join(each.text for each in listed), all(each.is_error for each in listed))

        where = f" of {escape_invisible(arguments.server)}" if arguments.server else ""
        return Proposal(f"List the resources{where}", self.kind, ask)


class ReadResource:
    """Read one resource."""

    name = "read_mcp_resource"
    kind: ToolKind = "fetch"
    tool_metadata = ToolMetadata(capabilities=frozenset({"network"}), is_repeatable=True)
    arguments: type[BaseModel] = ReadResourceArguments

    def __init__(self, libraries: Mapping[str, ResourceLibrary]) -> None:
        self._libraries = libraries

    def schema(self) -> ToolSchema:
        """Describe the tool to a model."""
        about = "Read a resource of an MCP server, by the URI from its list or from one of its tools."
        return schema_of(self.name, about, ReadResourceArguments)

    async def propose(self, arguments: ReadResourceArguments, workspace: Workspace) -> Proposal:
        """Propose a call, which only reads according to the server itself."""
        del workspace
        library = _find(self._libraries, arguments.server)

        async def read(progress: Progress) -> Result:
            return await library.read(arguments.uri, progress)

        title = f"Read {escape_invisible(arguments.uri)} ({escape_invisible(library.name)})"
        return Proposal(title, self.kind, read, (Calls(library.name, READING, has_read_only_hint=True),))


def _find(libraries: Mapping[str, ResourceLibrary], name: str) -> ResourceLibrary:
    """Find a library by its short name or the user's. Raises BadRequest."""
    if name in libraries:
        return libraries[name]
    for library in libraries.values():
        if library.name == name:
            return library
    raise BadRequest(
        f"There is no server {name[:80]!r}.", hint=f"The servers are: {', '.join(sorted(libraries))}."
    )
