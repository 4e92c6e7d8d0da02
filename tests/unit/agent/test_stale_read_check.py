"""The stale-read check: the model must have read a file's current content before it can change it."""

import pytest

from hermes_acp.agent.calls.tool_calls import run_tool_calls
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_step import CallOutcome
from hermes_acp.core.events import StepEnded, UserSaid
from hermes_acp.core.messages import ResourcePart, ToolCall
from hermes_acp.core.record.session_record import Record
from tests.conversations.scripted_provider import ScriptedProvider, call
from tests.unit.agent.turns import AllowingGate, MemoryJournal, open_turn
from tests.unit.tools.tool_calling import MemoryWorkspace

pytestmark = pytest.mark.anyio
READ = call("read_file", "r", path="a")
EDIT = call("edit_file", "e", path="a", old_text="one", new_text="1")
WRITE = call("write_file", "w", path="a", content="new\n")


class CheckedTurn:
    """A turn with one file that counts how often its user was asked."""

    def __init__(self) -> None:
        self.workspace = MemoryWorkspace({"a": b"one\ntwo\n"})
        self.journal = MemoryJournal()
        self.turn: Turn = open_turn(ScriptedProvider(), self.journal, self.workspace)
        self._count = 0

    async def make(self, *calls: ToolCall) -> list[CallOutcome]:
        named: list[ToolCall] = []
        for each in calls:
            self._count += 1
            named.append(ToolCall(f"c{self._count}", each.name, each.arguments))
        self.turn.emit(StepEnded(f"msg_{self._count}", tuple(named)))
        return list(await run_tool_calls(self.turn, named, truncated=False))

    @property
    def asked(self) -> int:
        assert isinstance(self.turn.gate, AllowingGate)
        return len(self.turn.gate.asked)


@pytest.mark.parametrize("change", [EDIT, WRITE], ids=["edit", "write"])
async def test_an_unread_file_is_not_changed_and_nobody_is_asked(change: ToolCall) -> None:
    checked_turn = CheckedTurn()
    (outcome,) = await checked_turn.make(change)
    assert (outcome.status, checked_turn.asked) == ("failed", 0)
    assert "was not read in this session" in outcome.text
    assert checked_turn.workspace.files["/project/a"] == b"one\ntwo\n"


@pytest.mark.parametrize("change", [EDIT, WRITE], ids=["edit", "write"])
async def test_a_file_changed_since_it_was_read_must_be_read_again(change: ToolCall) -> None:
    checked_turn = CheckedTurn()
    await checked_turn.make(READ)
    checked_turn.workspace.files["/project/a"] = b"one\ntwo\nthree\n"
    (outcome,) = await checked_turn.make(change)
    assert (outcome.status, checked_turn.asked) == ("failed", 0)
    assert "has changed since it was read" in outcome.text
    done = await checked_turn.make(READ, change)
    assert [outcome.status for outcome in done] == ["completed", "completed"]


async def test_the_agents_own_changes_count_as_read() -> None:
    checked_turn = CheckedTurn()
    more = call("edit_file", "m", path="a", old_text="two", new_text="2")
    done = await checked_turn.make(READ, EDIT, more)
    assert [outcome.status for outcome in done] == ["completed"] * 3
    assert checked_turn.workspace.files["/project/a"] == b"1\n2\n"
    fresh = call("write_file", "n", path="b", content="x")
    done = await checked_turn.make(fresh, call("edit_file", "f", path="b", old_text="x", new_text="y"))
    assert [outcome.status for outcome in done] == ["completed"] * 2


async def test_a_formatters_changes_do_not_count_as_read() -> None:
    checked_turn = CheckedTurn()
    checked_turn.workspace.written_as = b"formatted\n"
    done = await checked_turn.make(
        READ, EDIT, call("edit_file", "x", path="a", old_text="formatted", new_text="z")
    )
    assert [outcome.status for outcome in done] == ["completed", "completed", "failed"]


async def test_the_state_survives_the_process() -> None:
    checked_turn = CheckedTurn()
    await checked_turn.make(READ, EDIT)
    again = Record()
    for event in checked_turn.journal.events:
        again.apply(event)
    assert again.seen == checked_turn.turn.record.seen
    assert set(again.seen) == {"/project/a"}


async def test_a_file_attached_to_the_prompt_counts_as_read() -> None:
    checked_turn = CheckedTurn()
    checked_turn.turn.emit(UserSaid("msg_x", (ResourcePart("file:///project/a", "one\ntwo\n"),)))
    (outcome,) = await checked_turn.make(EDIT)
    assert outcome.status == "completed"
