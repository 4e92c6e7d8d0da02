"""The tool that searches earlier sessions: its queries, and the format of its results."""

from datetime import datetime

import pytest
from msgspec import structs

from hermes_acp.core.errors import InternalError
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit
from hermes_acp.core.proposals import Recalls
from hermes_acp.tools.builtin.session_search import SEARCH_TIMEOUT_S, TOOL, Arguments
from tests.unit.tools.tool_calling import AnsweringRecall, MemoryWorkspace, Report

pytestmark = pytest.mark.anyio
FIND = SearchHit("ses_1", "Tea\u202e", "/other", 86_400.0, 3, "agent", "the \x02kettle\x03 is blue")


async def perform(said: AnsweringRecall, **arguments: object) -> str:
    proposal = await TOOL.bind(said).propose(Arguments.model_validate(arguments), MemoryWorkspace())
    assert proposal.effects == ((Recalls(),) if arguments.get("everywhere") else ())
    return (await proposal.perform(Report())).text


async def test_the_search_covers_this_folder_without_the_current_session_and_is_limited() -> None:
    said = AnsweringRecall(FIND)
    await perform(said, query="kettle", limit=5)
    await perform(said, query="kettle", everywhere=True)
    await perform(said, query="a kettle", by_meaning=True)
    assert said.asked == [
        RecallQuery("kettle", "/project", "ses_present", 5, SEARCH_TIMEOUT_S, fills_up=True),
        RecallQuery("kettle", None, "ses_present", 8, SEARCH_TIMEOUT_S, fills_up=True),
        RecallQuery(
            "a kettle", "/project", "ses_present", 8, SEARCH_TIMEOUT_S, by_meaning=True, fills_up=True
        ),
    ]


async def test_results_say_who_when_and_where() -> None:
    assert await perform(AnsweringRecall(FIND), query="kettle") == (
        'ses_1 #3 (agent, 1970-01-02, "Tea\\u202e")\nthe **kettle** is blue'
    )
    text = await perform(AnsweringRecall(FIND, unread_sessions=7), query="kettle", everywhere=True, limit=1)
    assert "in /other" in text
    assert "there may be more" in text
    assert "7 older sessions are not indexed yet" in text
    assert "everywhere=true" in await perform(AnsweringRecall(), query="kettle")


async def test_dates_limit_the_search_and_the_answer_says_how_they_were_parsed() -> None:
    said = AnsweringRecall(FIND)
    text = await perform(said, since="2026-03-04", until="2026-03-04")
    (asked,) = said.asked
    since, until = (datetime(2026, 3, day).timestamp() for day in (4, 5))
    assert (asked.text, asked.since, asked.until) == ("", since, until)
    assert text.startswith(
        "[from Wednesday, 2026-03-04 00:00 until Thursday, 2026-03-05 00:00, local time; today is "
    )
    assert "1970-01-02" in text
    timed = structs.replace(FIND, at=since + 60)
    assert "(agent, 2026-03-04 00:01, " in await perform(AnsweringRecall(timed), query="kettle")
    wrong = await perform(said, since="banana")
    assert wrong.startswith("'banana' is not a recognised date. Examples: 2026-03-04")
    proposal = await TOOL.propose(Arguments(query="tea", since="2d", until="1d"), MemoryWorkspace())
    assert proposal.title == "Search earlier sessions here for tea since 2d until 1d"


async def test_an_unbound_tool_is_our_own_bug() -> None:
    proposal = await TOOL.propose(Arguments(query="x"), MemoryWorkspace())
    with pytest.raises(InternalError):
        await proposal.perform(Report())
