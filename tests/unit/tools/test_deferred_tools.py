"""Deferred tools, used beyond a size budget: which are deferred, how they are listed, and how calls to them are
parsed.
"""

import json
from typing import Any

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ToolCall, ToolSchema
from hermes_acp.core.ports.tool_ports import Tool
from hermes_acp.core.proposals import Progress
from hermes_acp.mcp.elicitation import ServerRequest
from hermes_acp.mcp.server_tools import ListedTool, ServerTool
from hermes_acp.tools.deferred.argument_check import argument_mistakes
from hermes_acp.tools.deferred.deferral import deferred_tools, search_tools
from hermes_acp.tools.deferred.tool_catalog import MAX_CATALOG_BYTES, catalog
from hermes_acp.tools.toolbox import Toolbox
from tests.unit.tools.tool_calling import MemoryWorkspace


class Nobody:
    """A server that is never called."""

    name = "nobody"
    identity = "none"

    def redact_tokens(self, text: str) -> str:
        return text

    def clean(self, text: str) -> str:
        return text

    async def ask(self, what: str, inquiry: ServerRequest[Any], progress: Progress | None = None) -> Any:
        raise AssertionError(what)


NUMBER: dict[str, object] = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


def tool(name: str, about: str = "", parameters: dict[str, object] | None = None) -> Tool:
    listed = ListedTool(name, about, parameters or {"type": "object"}, is_read_only=True)
    return ServerTool(name, listed, Nobody())


def tools_of(server: str, count: int, size: int = 0) -> dict[str, Tool]:
    names = [f"mcp__{server}__t{number}" for number in range(count)]
    return {name: tool(name, "x" * size) for name in names}


def box_of(*tools: Tool, direct: tuple[Tool, ...] = ()) -> Toolbox:
    deferred = {each.name: each for each in tools}
    own = {each.name: each for each in direct}
    return Toolbox(own).extended(deferred | search_tools(deferred), deferred=deferred.keys())


def wrapped(name: object, arguments: object) -> ToolCall:
    return ToolCall("c1", "call_tool", json.dumps({"name": name, "arguments": arguments}))


def test_nothing_is_deferred_while_everything_fits() -> None:
    tools = {**tools_of("a", 3, 100), "mine": tool("mine", "x" * 90_000)}
    assert not deferred_tools(tools, 10_000)
    assert not search_tools({})


def test_beyond_the_budget_all_server_tools_are_deferred_and_no_others() -> None:
    tools = {**tools_of("huge", 50, 2_000), **tools_of("small", 1), "mine": tool("mine")}
    assert set(deferred_tools(tools, 10_000)) == tools.keys() - {"mine"}
    assert set(deferred_tools(tools_of("small", 1), 0)) == {"mcp__small__t0"}


def test_schemas_of_deferred_tools_are_in_no_request_but_they_are_found() -> None:
    box = box_of(tool("mcp__s__a"), direct=(tool("own"),))
    assert [schema.name for schema in box.schemas] == ["own", "call_tool", "tool_search"]
    assert [schema.name for schema in box.deferred_schemas] == ["mcp__s__a"]
    assert box.find("mcp__s__a")
    assert {schema.name for schema in box.only(box.names).schemas} == {"own", "call_tool", "tool_search"}


def test_a_toolbox_without_call_tool_defers_nothing() -> None:
    (schema,) = box_of(tool("mcp__s__a"), tool("mcp__s__b")).only(["mcp__s__a"]).schemas
    assert schema.name == "mcp__s__a"


@pytest.mark.parametrize("name", ["mcp__s__add", "add", "s.add", "s__add", "MCP__S__ADD"])
def test_a_wrapped_call_becomes_the_actual_call(name: str) -> None:
    box = box_of(tool("mcp__s__add", parameters=NUMBER), tool("mcp__t__other"))
    call = box.mended(wrapped(name, {"n": 1}))
    assert (call.name, call.arguments, call.via) == ("mcp__s__add", '{"n":1}', "call_tool")
    assert box.parse_call(call).plain == {"n": 1}
    written = call.as_written()
    assert written.name == "call_tool"
    assert json.loads(written.arguments) == {"name": "mcp__s__add", "arguments": {"n": 1}}
    assert not written.via


def test_arguments_as_text_and_broken_json_are_accepted() -> None:
    box = box_of(tool("mcp__s__add", parameters=NUMBER))
    assert box.mended(wrapped("mcp__s__add", '{"n": 1}')).arguments == '{"n":1}'
    broken = ToolCall("c1", "call_tool", '{"name": "mcp__s__add", "arguments": {"n": 1,}}')
    assert box.mended(broken).arguments == '{"n":1}'


@pytest.mark.parametrize(
    "call",
    [
        wrapped("call_tool", {"name": "mcp__s__add"}),
        wrapped("", {}),
        wrapped(3, {}),
        wrapped("mcp__s__add", [1]),
        wrapped("mcp__s__add", "no"),
        ToolCall("c1", "call_tool", "{"),
    ],
)
def test_a_wrapped_call_without_a_tool_is_unchanged(call: ToolCall) -> None:
    box = box_of(tool("mcp__s__add", parameters=NUMBER))
    assert box.mended(call) == call


def test_the_same_name_at_two_servers_must_be_distinguishable() -> None:
    box = box_of(tool("mcp__s__add"), tool("mcp__t__add"))
    with pytest.raises(BadRequest):
        box.parse_call(box.mended(wrapped("add", {})))
    assert box.parse_call(box.mended(wrapped("t.add", {}))).tool.name == "mcp__t__add"


def test_wrong_arguments_are_rejected_with_the_parameters() -> None:
    box = box_of(tool("mcp__s__add", parameters=NUMBER))
    with pytest.raises(BadRequest) as refused:
        box.parse_call(box.mended(wrapped("mcp__s__add", {"n": "one"})))
    assert "arguments.n must be integer" in refused.value.message
    assert '"required":["n"]' in refused.value.hint


def test_an_unknown_tool_is_rejected_without_a_list_of_all() -> None:
    box = box_of(*tools_of("s", 500).values())
    with pytest.raises(BadRequest) as refused:
        box.parse_call(ToolCall("c1", "qqq", "{}"))
    assert "tool_search" in refused.value.hint
    assert "mcp__s__t9" not in refused.value.hint


@pytest.mark.parametrize(
    ("schema", "value", "mistakes"),
    [
        ({"type": "object", "additionalProperties": False}, {"a": 1}, ["arguments.a is not a parameter"]),
        ({"properties": {"a": {"enum": ["x"]}}}, {"a": "y"}, ["arguments.a must be one of 'x'"]),
        ({"properties": {"a": {"type": ["string", "null"]}}}, {"a": None}, []),
        ({"properties": {"a": {"type": "number"}}}, {"a": True}, ["arguments.a must be number"]),
        ({"properties": {"a": {"type": "integer"}}}, {"a": 2.0}, []),
        (
            {"properties": {"a": {"items": {"type": "string"}}}},
            {"a": ["x", 1]},
            ["arguments.a[1] must be string"],
        ),
        ({"properties": {"a": {"anyOf": [{"type": "string"}], "type": "object"}}}, {"a": "x"}, []),
        ({"properties": {"a": {"type": "invented"}}}, {"a": 1}, []),
        ({"required": "a", "properties": []}, {"a": 1}, []),
    ],
)
def test_arguments_are_checked_as_far_as_possible(
    schema: dict[str, object], value: dict[str, object], mistakes: list[str]
) -> None:
    assert list(argument_mistakes(schema, value)) == mistakes


@pytest.mark.parametrize("count", [1, 40, 500, 2_000, 20_000])
def test_the_list_is_limited_and_names_every_server(count: int) -> None:
    schemas = [
        ToolSchema(f"mcp__s{number % 20}__do_{number}_thing", "It does something.\nMore.", {})
        for number in range(count)
    ]
    text = catalog(schemas)
    assert len(text.encode()) <= MAX_CATALOG_BYTES
    assert text == catalog(schemas[::-1])
    assert all(f"s{number}" in text for number in range(min(count, 20)))
    assert ("- do_0_thing: It does something." in text) is (count <= 40)
    assert ("tools)" in text) is (count >= 2_000)


def test_a_list_of_unusual_names_is_limited_too() -> None:
    schemas = [ToolSchema(f"mcp__{'é' * 40}{number}__{'ü' * 200}", "", {}) for number in range(5_000)]
    assert len(catalog(schemas).encode()) <= MAX_CATALOG_BYTES


@pytest.mark.anyio
async def test_tools_that_a_query_names_come_first_and_completely() -> None:
    deferred = tools_of("s", 30)
    search: Any = search_tools(deferred)["tool_search"]
    parsed = Toolbox({"tool_search": search}).parse_call(
        ToolCall("c1", "tool_search", '{"query": "mcp__s__t3, t7", "limit": 1}')
    )
    progress: Any = None
    proposal = await search.propose(parsed.arguments, MemoryWorkspace())
    assert not proposal.effects
    lines = (await proposal.perform(progress)).text.splitlines()
    assert [json.loads(line)["name"] for line in lines[1:3]] == ["mcp__s__t3", "mcp__s__t7"]


@pytest.mark.anyio
async def test_a_search_without_results_names_the_servers() -> None:
    search: Any = search_tools(tools_of("s", 3))["tool_search"]
    parsed = Toolbox({"tool_search": search}).parse_call(
        ToolCall("c1", "tool_search", '{"query": "spaceship"}')
    )
    progress: Any = None
    result = await (await search.propose(parsed.arguments, MemoryWorkspace())).perform(progress)
    assert "These servers have tools: s." in result.text
