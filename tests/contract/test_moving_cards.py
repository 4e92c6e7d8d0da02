"""A card's worktree when another machine continues the card: no loss goes unreported, and only one machine merges."""

from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.boards.board_ports import CardWorktree
from hermes_acp.core.ports.boards.merge_ports import Merged, NotMerged
from hermes_acp.git.git_entries import unexpected_entries
from tests.contract.card_repository import CardRepository, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def first(tmp_path: Path) -> CardRepository:
    machine = CardRepository(tmp_path)
    machine.create()
    return machine


@pytest.fixture
def second(tmp_path: Path, first: CardRepository) -> CardRepository:
    """Return another machine with the same repository: its home is its own, and its new worktrees would be
    elsewhere.
    """
    return first.beside("second")


def hazard_of_new_entries(machine: CardRepository) -> list[str]:
    """Return what the sandbox would quarantine in the repository, besides what git created."""
    known = {"config", "hooks", "branches"}
    return [path for path in unexpected_entries(f"{machine.top}/.git") if Path(path).name not in known]


async def taken(machine: CardRepository, last: CardWorktree) -> CardWorktree:
    return await machine.worktrees.open("board", "1", str(machine.top), last)


async def test_machines_that_share_the_folder_continue_in_it(
    first: CardRepository, second: CardRepository
) -> None:
    begun = await first.card("1", {"new.txt": "not committed\n"})
    moved = await taken(second, begun)
    assert (moved.folder, moved.base, moved.has_lost_work) == (begun.folder, begun.base, False)
    assert moved.branch != begun.branch
    assert (Path(moved.folder) / "new.txt").read_text() == "not committed\n"
    assert second.worktree_count() == 1
    assert (
        await taken(second, begun) == moved
    )  # As if the process had been killed before it recorded the move.
    with pytest.raises(WorkspaceError, match="not on this machine"):
        await first.merge("1", moved)
    assert isinstance(await second.merge("1", moved), Merged)
    await first.remove("1")
    await second.remove("1")
    assert first.git("show", "main:new.txt") == "not committed"
    assert first.git("branch", "--format=%(refname:short)").split() == ["main"]
    assert first.worktree_count() == 0


async def test_a_card_moves_back_and_forth_in_a_shared_folder(
    first: CardRepository, second: CardRepository
) -> None:
    worktree = await first.card("1", {"new.txt": "one\n"})
    for machine in (second, first, second, first):
        before, worktree = worktree, await taken(machine, worktree)
        assert (worktree.folder, worktree.has_lost_work) == (before.folder, False)
    assert (Path(worktree.folder) / "new.txt").read_text() == "one\n"
    assert isinstance(await first.merge("1", worktree), Merged)


async def test_machines_that_share_a_repository_merge_one_after_the_other(
    first: CardRepository, second: CardRepository
) -> None:
    """Also into a branch that is checked out: its files stay as they are on the branch."""
    machines = {str(number): (first, second)[number % 2] for number in range(8)}
    merged: list[Merged | NotMerged] = []

    async def merge(number: str, machine: CardRepository) -> None:
        worktree = await machine.card(number, {f"made_{number}.txt": "made\n"})
        merged.append(await machine.merge(number, worktree))

    async with anyio.create_task_group() as tasks:
        for number, machine in machines.items():
            tasks.start_soon(merge, number, machine)
    assert [type(each) for each in merged] == [Merged] * len(machines)
    assert first.git("status", "--porcelain") == ""
    assert len(first.log()) == len(machines) + 1
    assert hazard_of_new_entries(first) == []


async def test_without_the_folder_a_machine_starts_over_at_the_same_path_and_says_so(tmp_path: Path) -> None:
    """Each machine has its own disk, with a clone of the repository at the same path."""
    disk, away = tmp_path / "disk", tmp_path / "away"
    first = CardRepository(disk)
    first.create()
    begun = await first.card("1", {"new.txt": "of the first\n"})
    disk.rename(away)
    second = CardRepository(disk)
    second.git("clone", "--quiet", str(away / "project"), str(second.top), at=tmp_path)
    moved = await taken(second, begun)
    assert (moved.folder, moved.has_lost_work) == (begun.folder, True)
    assert not (Path(moved.folder) / "new.txt").exists()
    assert await taken(second, moved) == CardWorktree(moved.folder, moved.branch, moved.base)
    disk.rename(tmp_path / "second")
    away.rename(disk)
    with pytest.raises(WorkspaceError, match="not on this machine"):
        await first.merge("1", moved)
    back = await taken(first, moved)
    assert (back.folder, back.has_lost_work) == (begun.folder, True)
    assert not (Path(back.folder) / "new.txt").exists()
    assert first.git("show", f"{begun.branch}:new.txt") == "of the first"


async def test_a_folder_with_other_content_is_left_alone(
    first: CardRepository, second: CardRepository, tmp_path: Path
) -> None:
    begun = await first.card("1")
    here = Path(begun.folder)
    here.rename(tmp_path / "disk of the first")
    write(here, {"precious.txt": "mine\n"})
    with pytest.raises(WorkspaceError, match="used for something else"):
        await taken(second, begun)
    assert (here / "precious.txt").read_text() == "mine\n"
