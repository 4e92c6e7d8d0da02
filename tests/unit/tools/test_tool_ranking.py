"""A tool is found by its name, its server, its purpose and its arguments, also in everyday words."""

import pytest

from bench.tool_search import catalogue, requests
from hermes_acp.core.messages import ToolSchema
from hermes_acp.tools.deferred.tool_ranking import RankedTool, query_words, rank_tools
from hermes_acp.tools.deferred.tool_search import MAX_RESULTS


def tool(name: str, server: str = "server", about: str = "", **parameters: str) -> RankedTool:
    properties = {key: {"type": "string", "description": value} for key, value in parameters.items()}
    return RankedTool(name, server, ToolSchema(name, about, {"type": "object", "properties": properties}))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("create issue", "createIssue"),
        ("weather", "forecast"),
        ("remove a branch", "delete_branch"),
        ("the barometer reading", "sense"),
        ("GITHUB", "createIssue"),
        ("überweisung", "transfer"),
    ],
)
def test_each_field_is_searched(query: str, found: str) -> None:
    tools = [
        tool("createIssue", "github", "Open a new one."),
        tool("forecast", "sky", "Tell the weather of tomorrow."),
        tool("delete_branch", "git"),
        tool("sense", "house", kind="such as barometer"),
        tool("transfer", "bank", "Eine Überweisung ausführen."),
    ]
    best, *_ = rank_tools(tools, query, 5)
    assert tools[best].name == found


def test_exact_words_count_more_than_synonyms() -> None:
    tools = [tool("remove_user"), tool("delete_user")]
    assert tools[rank_tools(tools, "delete a user", 2)[0]].name == "delete_user"
    assert tools[rank_tools(tools, "remove a user", 2)[0]].name == "remove_user"


def test_stop_words_are_ignored_unless_there_are_no_others() -> None:
    assert query_words("what is the weather like") == ["weather"]
    assert query_words("who is it") == ["who", "is", "it"]
    assert rank_tools([tool("a")], "***", 5) == []


def test_a_query_has_no_operators() -> None:
    assert rank_tools([tool("near", about="x")], 'NEAR("a" b) OR * -c "', 5) == [0]


def test_nearly_all_requests_find_their_tool() -> None:
    tools, asked = catalogue(), requests()[::4]
    found = 0
    for words, wanted in asked:
        names = [
            f"{tools[number].server}.{tools[number].name}" for number in rank_tools(tools, words, MAX_RESULTS)
        ]
        found += any(name in wanted for name in names)
    assert len(tools) >= 500
    assert found >= 0.95 * len(asked)
