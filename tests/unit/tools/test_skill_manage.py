"""The tool that writes skills: what it shows, what it changes, and what it leaves to the user."""

import pytest

from hermes_acp.core.proposals import Remembers, Writes
from hermes_acp.tools.builtin.skill import Arguments, Skill
from tests.unit.tools.external_fakes import FakeSkillFolder
from tests.unit.tools.tool_calling import MemoryWorkspace, Report, find_tool

pytestmark = pytest.mark.anyio


class Counted:
    """Records uses."""

    def __init__(self) -> None:
        self.uses: list[tuple[str, str, str]] = []

    def note(self, session_id: str, name: str, folder: str) -> None:
        self.uses.append((session_id, name, folder))


async def test_a_users_skill_is_shown_whole_and_needs_approval() -> None:
    tool = find_tool("skill_manage")
    asked = tool.arguments(action="create", name="ship", reason="six attempts", text="text")
    proposal = await tool.propose(asked, MemoryWorkspace())
    assert proposal.effects == (Remembers("/skills/ship/SKILL.md", is_asked=True),)
    assert [diff.new_text for diff in proposal.diffs] == ["text"]
    assert proposal.title.splitlines() == [
        "Write the skill ship, yours, for every workspace: six attempts",
        "! It is very similar to the skill ship.",
    ]


async def test_a_workspaces_skill_is_an_ordinary_file() -> None:
    tool = find_tool("skill_manage")
    asked = tool.arguments(
        action="create", name="ship", reason="six attempts", text="text", scope="workspace"
    )
    proposal = await tool.propose(asked, MemoryWorkspace())
    assert proposal.effects == (Writes("/skills/ship/SKILL.md"),)


async def test_a_report_changes_nothing() -> None:
    tool = find_tool("skill_manage")
    asked = tool.arguments(action="report_failure", name="ship", reason="the target is gone")
    proposal = await tool.propose(asked, MemoryWorkspace())
    assert (proposal.effects, proposal.diffs) == ((), ())
    result = await proposal.perform(Report())
    assert "ship failed in" in result.text


async def test_a_skill_is_counted_when_it_is_loaded() -> None:
    counted = Counted()
    tool = Skill().bind(FakeSkillFolder(), counted)
    proposal = await tool.propose(Arguments(name="ship"), MemoryWorkspace())
    assert counted.uses == []
    await proposal.perform(Report())
    assert [use[1:] for use in counted.uses] == [("ship", "/skills/ship")]
