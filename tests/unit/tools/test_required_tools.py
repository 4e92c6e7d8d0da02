"""A tool that needs another is offered only together with it."""

from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.tool_metadata import ToolMetadata
from hermes_acp.tools.toolbox import Toolbox
from tests.unit.agent.fake_tools import FakeTool, succeed


def toy(name: str, *needs: str) -> Tool:
    return FakeTool(name, succeed, ToolMetadata(needs=frozenset(needs)))


def test_a_tool_that_lacks_another_is_omitted_with_those_that_need_it() -> None:
    tools = {tool.name: tool for tool in (toy("a"), toy("b", "a"), toy("c", "b", "a"), toy("d", "gone"))}
    box = Toolbox(tools)
    assert box.names == ("a", "b", "c")
    assert box.only(["b", "c"]).names == ()
    assert box.only(["a", "c"]).names == ("a",)
    assert box.extended({"gone": toy("gone"), "d": tools["d"]}).names == ("a", "b", "c", "d", "gone")
