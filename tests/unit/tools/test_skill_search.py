"""The tool that loads skills also searches for them by words."""

import pytest

from hermes_acp.tools.builtin.skill import TOOL, Arguments
from tests.unit.tools.external_fakes import FakeSkillFolder
from tests.unit.tools.tool_calling import MemoryWorkspace, Report

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("query", "title", "text"),
    [
        ("", "List the skills", "- ship: Ships it."),
        ("Ships", "Look for skills: Ships", "- ship: Ships it."),
        ("cakes", "Look for skills: cakes", "No skill contains any of these words."),
    ],
)
async def test_without_a_name_skills_are_listed_or_searched(query: str, title: str, text: str) -> None:
    tool = TOOL.bind(FakeSkillFolder(), None)
    proposal = await tool.propose(Arguments(query=query), MemoryWorkspace())
    assert (proposal.title, proposal.effects) == (title, ())
    assert (await proposal.perform(Report())).text == text


async def test_a_name_takes_precedence_over_words() -> None:
    proposal = await TOOL.bind(FakeSkillFolder(), None).propose(
        Arguments(name="ship", query="cakes"), MemoryWorkspace()
    )
    assert "text of ship" in (await proposal.perform(Report())).text
