"""Merges killed at each of their git calls in turn; when repeated, they end as if nothing had happened."""

import itertools
from pathlib import Path

import pytest

from hermes_acp.core.ports.boards.merge_ports import NotMerged
from tests.contract.card_repository import CardRepository, write
from tests.contract.merge_process import merge_in_process

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
STEP = 16
"""How many git calls apart the kills are; `python -m bench.merge_kills` tries every call."""


async def check_merge_killed_at(folder: Path, at: int) -> bool:
    """Kill a merge at a git call and repeat it; return whether there was such a call."""
    repository = CardRepository(folder)
    repository.create()
    worktree = await repository.card("1", {"c.txt": "c\n"})
    repository.git("add", "--all", at=worktree.folder)
    repository.git("commit", "--quiet", "--message", "First half", at=worktree.folder)
    write(Path(worktree.folder), {"d.txt": "d\n"})
    repository.commit({"e.txt": "e\n"}, "Meanwhile")
    was_killed = merge_in_process(folder, "1", kill_at=at)
    if was_killed:
        assert not merge_in_process(folder, "1", kill_at=0)
    assert repository.log() == ["Do 1", "First half", "Meanwhile", "Begin"]
    assert repository.git("status", "--porcelain") == ""
    assert (repository.top / "d.txt").read_text() == "d\n"
    assert repository.worktree_count() == 0
    assert list((folder / "worktrees").iterdir()) == []
    assert "hermes-acp" not in repository.git("for-each-ref")
    return was_killed


async def check_conflict_killed_at(folder: Path, at: int) -> bool:
    """Kill the return of conflicts at a git call and repeat it; the work is returned once, with conflict markers."""
    repository = CardRepository(folder)
    repository.create()
    worktree = await repository.card("1", {"a.txt": "one\nmine\nthree\n", "c.txt": "c\n"})
    repository.commit({"a.txt": "one\ntheirs\nthree\n"}, "Meanwhile")
    was_killed = merge_in_process(folder, "1", kill_at=at)
    record = repository.worktrees.records.read("board", "1")
    if was_killed and record and not record.conflicts:
        outcome = await repository.merge("1", worktree)
        assert isinstance(outcome, NotMerged)
    assert repository.log() == ["Meanwhile", "Begin"]
    text = (Path(worktree.folder) / "a.txt").read_text()
    assert (text.count("<<<<<<< "), text.count("mine"), text.count("theirs")) == (1, 1, 1)
    assert (Path(worktree.folder) / "c.txt").read_text() == "c\n"
    write(Path(worktree.folder), {"a.txt": "one\nboth\nthree\n"})
    assert not merge_in_process(folder, "1", kill_at=0)
    assert repository.log() == ["Do 1", "Meanwhile", "Begin"]
    assert repository.git("show", "main:a.txt") == "one\nboth\nthree"
    return was_killed


async def test_a_merge_killed_at_any_step_can_be_repeated(tmp_path: Path) -> None:
    at = 0
    for at in itertools.count(4, STEP):
        if not await check_merge_killed_at(tmp_path / str(at), at):
            break
    assert at > STEP


async def test_the_return_of_conflicts_can_be_repeated(tmp_path: Path) -> None:
    at = 0
    for at in itertools.count(16, STEP):
        if not await check_conflict_killed_at(tmp_path / str(at), at):
            break
    assert at > STEP
