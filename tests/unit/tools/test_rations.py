"""What goes into every request is bounded, and a server with hundreds of tools costs no other one its own."""

from typing import Any

from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Progress
from hermes_acp.mcp.elicitation import ServerRequest
from hermes_acp.mcp.server_tools import ListedTool, ServerTool
from hermes_acp.tools.tool_budget import apply_tool_budget


class Nobody:
    """A server that is not asked."""

    name = "nobody"
    identity = "none"

    def redact_tokens(self, text: str) -> str:
        return text

    def clean(self, text: str) -> str:
        return text

    async def ask(self, what: str, inquiry: ServerRequest[Any], progress: Progress | None = None) -> Any:
        raise AssertionError(what)


def tool(name: str, size: int) -> Tool:
    return ServerTool(name, ListedTool(name, "x" * size, {"type": "object"}, is_read_only=True), Nobody())


def tools_of(server: str, count: int, size: int) -> dict[str, Tool]:
    names = [f"mcp__{server}__t{number}" for number in range(count)]
    return {name: tool(name, size) for name in names}


def test_all_are_offered_where_they_fit() -> None:
    tools = {**tools_of("a", 3, 100), "mine": tool("mine", 100)}
    assert dict(apply_tool_budget(tools).tools) == tools
    assert not apply_tool_budget(tools).told()


def test_the_largest_server_gives_way_and_it_is_told() -> None:
    tools = {**tools_of("huge", 500, 2_000), **tools_of("small", 5, 2_000), "mine": tool("mine", 50_000)}
    rationed = apply_tool_budget(tools)
    assert "mine" in rationed.tools
    assert sum(name.startswith("mcp__small__") for name in rationed.tools) == 5
    assert 10 < sum(name.startswith("mcp__huge__") for name in rationed.tools) < 60
    assert "of the 500 tools of huge" in rationed.told()
    assert "tools: [" in rationed.told()
