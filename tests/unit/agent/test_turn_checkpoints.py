"""Checkpoints before calls: a turn stores the files that calls name, or everything if anything may change."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec import structs

from hermes_acp.agent.calls.call_checkpoints import checkpoint_before, expect_checkpoint
from hermes_acp.agent.turn.turn import Turn
from hermes_acp.agent.turn.turn_checkpoints import TurnCheckpoints
from hermes_acp.core.events import CallProposed, Noticed
from hermes_acp.core.ports.checkpoint_ports import CheckpointContext, CheckpointError, FileChange
from hermes_acp.core.proposals import Calls, Deletes, Effect, Proposal, Reads, Runs, Writes
from tests.conversations.scripted_provider import ScriptedProvider
from tests.unit.agent.turns import MemoryJournal, open_turn

pytestmark = pytest.mark.anyio
COMMAND = Runs("make all", "/p")
CALL = Calls("server", "tool")


class NotedCheckpoints:
    """Checkpoints that only record what they should store; a whole folder cannot be stored while `is_too_big`."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, tuple[str, ...], bool]] = []
        self.expected: list[tuple[str, ...]] = []
        self.is_too_big = False

    def expect(self, roots: Sequence[str]) -> None:
        self.expected.append(tuple(roots))

    async def open(
        self, occasion: CheckpointContext, touched: Sequence[str], *, is_whole: bool = True
    ) -> str:
        self._note("open", touched, is_whole)
        return "cp_1"

    async def add(self, checkpoint_id: str, touched: Sequence[str], *, is_whole: bool = False) -> None:
        self._note("add", touched, is_whole)

    async def close(self, checkpoint_id: str, touched: Sequence[str]) -> tuple[FileChange, ...]:
        self._note("close", touched, False)
        return ()

    def _note(self, what: str, touched: Sequence[str], is_whole: bool) -> None:
        self.asked.append((what, tuple(touched), is_whole))
        if is_whole and self.is_too_big:
            raise CheckpointError("/p has more than 300,000 files.")


def turn_with(checkpoints: NotedCheckpoints) -> tuple[Turn, MemoryJournal]:
    journal = MemoryJournal()
    turn = open_turn(ScriptedProvider(), journal)
    turn.calls.checkpoints = TurnCheckpoints(lambda: checkpoints, turn.ledger)
    return turn, journal


async def make(turn: Turn, *calls: Effect) -> None:
    for effect in calls:
        await checkpoint_before(turn, (effect,))


async def test_only_the_files_that_edits_name_are_stored_until_a_command_runs() -> None:
    checkpoints = NotedCheckpoints()
    turn, _ = turn_with(checkpoints)
    await make(turn, Reads("/p/a"), Writes("/p/a"), Writes("/p/a"), Deletes("/p/b"))
    assert checkpoints.asked == [("open", ("/p/a",), False), ("add", ("/p/b",), False)]
    await make(turn, CALL, COMMAND, Writes("/p/c"))
    assert checkpoints.asked[2:] == [("add", (), True), ("add", ("/p/c",), False)]
    assert turn.calls.checkpoints
    await turn.calls.checkpoints.after()
    await make(turn, COMMAND, Writes("/p/a"))
    assert checkpoints.asked[4:] == [
        ("close", ("/p/a", "/p/b", "/p/c"), False),
        ("open", (), True),
        ("add", ("/p/a",), False),
    ]


async def test_a_folder_that_cannot_be_stored_is_tried_once_per_turn_and_its_files_are_stored() -> None:
    checkpoints = NotedCheckpoints()
    checkpoints.is_too_big = True
    turn, journal = turn_with(checkpoints)
    await make(turn, Writes("/p/a"), COMMAND, Runs("rm /p/b", "/p"), CALL)
    assert checkpoints.asked == [
        ("open", ("/p/a",), False),
        ("add", (), True),
        ("add", ("/p/b",), False),
    ]
    assert turn.calls.checkpoints
    await turn.calls.checkpoints.after()
    await make(turn, Runs("rm /p/b", "/p"), Writes("/p/a"))
    assert checkpoints.asked[4:] == [
        ("open", ("/p/b",), True),
        ("open", ("/p/b",), False),
        ("add", ("/p/a",), False),
    ]
    assert len([event for event in journal.events if isinstance(event, Noticed)]) == 1


async def test_a_named_folder_stands_for_everything_in_it(tmp_path: Path) -> None:
    checkpoints = NotedCheckpoints()
    turn, _ = turn_with(checkpoints)
    await make(turn, Writes("/p/a"), Writes(str(tmp_path)), COMMAND)
    assert checkpoints.asked == [("open", ("/p/a",), False), ("add", (str(tmp_path),), True)]
    (tmp_path / "inner").mkdir()
    await make(turn, Writes(str(tmp_path / "inner")))
    assert checkpoints.asked[2:] == [("add", (str(tmp_path / "inner"),), False)], "ignored files are included"


async def test_a_folder_is_read_in_advance_only_for_a_call_that_may_change_anything() -> None:
    checkpoints = NotedCheckpoints()
    turn, _ = turn_with(checkpoints)
    await make(turn, Reads("/p/a"), Writes("/p/a"), Runs("ls", "/p"))
    for effect in (Reads("/p/a"), Writes("/p/a")):
        expect_checkpoint(turn, (effect,))
    assert checkpoints.expected == []
    for effect in (COMMAND, CALL):
        expect_checkpoint(turn, (effect,))
    assert checkpoints.expected == [turn.record.roots]


async def test_with_hooks_an_edit_may_change_anything() -> None:
    async def hook(turn: Turn, card: CallProposed, proposal: Proposal) -> str:
        return ""

    checkpoints = NotedCheckpoints()
    turn, _ = turn_with(checkpoints)
    stages = structs.replace(turn.deps.stages, before_call=(hook,))
    turn.deps = structs.replace(turn.deps, stages=stages)
    await make(turn, Reads("/p/b"), Writes("/p/a"))
    assert checkpoints.asked == [("open", ("/p/a",), True)]
