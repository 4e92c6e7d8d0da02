"""The names that MCP servers and their tools get."""

import re
from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.mcp.exposed_names import tool_names
from hermes_acp.mcp.server_definitions import StdioServer, slugs_of


def slugs(*names: str) -> list[str]:
    return slugs_of(StdioServer(name, "true") for name in names)


def test_a_plain_name_is_kept() -> None:
    assert tool_names("files", ["read-file", "a_b"]) == {
        "read-file": "mcp__files__read-file", "a_b": "mcp__files__a_b",
    }  # fmt: skip


def test_a_changed_name_yields_to_an_original_one_in_any_order() -> None:
    tools = ["a.b", "a/b", "a_b"]
    first = tool_names("s", tools)
    assert first["a_b"] == "mcp__s__a_b"
    assert len(set(first.values())) == 3
    assert all(tool_names("s", order) == first for order in permutations(tools))


def test_servers_never_share_a_slug() -> None:
    assert slugs("a b", "a.b", "a__b", "日本", "") == ["a_b", "a_b_2", "a_b_3", "server", "server_2"]


@given(st.lists(st.text(max_size=90), max_size=8), st.lists(st.text(max_size=40), min_size=1, max_size=4))
def test_names_are_valid_for_every_vendor_and_unique(tools: list[str], servers: list[str]) -> None:
    names = [name for slug in slugs(*servers) for name in tool_names(slug, tools).values()]
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    assert len(set(names)) == len(names) == len(set(tools)) * len(servers)
