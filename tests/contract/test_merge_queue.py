"""The merge queue rebases, checks and fast-forwards; conflicts and failures are returned; the user loses nothing."""

from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.boards.merge_ports import Merged, NotMerged
from hermes_acp.runs.merging.merge_queue import CheckFailure
from tests.contract.card_repository import CardRepository, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def repository(tmp_path: Path) -> CardRepository:
    repository = CardRepository(tmp_path)
    repository.create()
    return repository


async def test_finished_work_is_rebased_onto_the_target_and_into_the_users_folder(
    repository: CardRepository,
) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n"})
    repository.git("rm", "--quiet", "b.txt", at=worktree.folder)
    repository.commit({"d.txt": "d\n"}, "Meanwhile")
    outcome = await repository.merge("1", worktree)
    assert isinstance(outcome, Merged)
    assert repository.log() == ["Do 1", "Meanwhile", "Begin"]
    assert outcome.commit == repository.git("rev-parse", "main")
    assert (repository.top / "c.txt").read_text() == "c\n"
    assert not (repository.top / "b.txt").exists()
    assert repository.git("status", "--porcelain") == ""
    assert repository.git("log", "-1", "--format=%an <%ae>") == "Ada <ada@example.com>"
    assert repository.checks.ran == [(str(repository.top), worktree.folder)]


async def test_merging_again_changes_nothing(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n"})
    await repository.merge("1", worktree)
    assert isinstance(await repository.merge("1", worktree), Merged)
    await repository.remove("1")
    assert repository.log() == ["Do 1", "Begin"]
    assert repository.worktree_count() == 0
    assert worktree.branch not in repository.git("branch")


async def test_a_card_without_changes_is_merged(repository: CardRepository) -> None:
    worktree = await repository.card("1")
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert repository.log() == ["Begin"]
    assert repository.checks.ran == []


async def test_conflicts_are_returned_with_files_and_hunks_and_the_agent_continues(
    repository: CardRepository,
) -> None:
    worktree = await repository.card("1", {"a.txt": "one\nmine\nthree\n", "c.txt": "c\n"})
    folder = Path(worktree.folder)
    repository.git("commit", "--quiet", "--all", "--message", "First half", at=folder)
    write(folder, {"d.txt": "d\n"})
    theirs = repository.commit({"a.txt": "one\ntheirs\nthree\n"}, "Meanwhile")
    outcome = await repository.merge("1", worktree)
    assert isinstance(outcome, NotMerged)
    assert "a.txt" in outcome.sentence
    for part in ("- a.txt: changed by both", "theirs", "mine", "<<<<<<<"):
        assert part in outcome.words
    assert repository.git("rev-parse", "main") == theirs
    assert "<<<<<<< " in (folder / "a.txt").read_text()
    assert (folder / "c.txt").exists()
    assert (folder / "d.txt").exists()
    left = await repository.merge("1", worktree)
    assert isinstance(left, NotMerged)
    assert "markers" in left.sentence
    write(folder, {"a.txt": "one\ntheirs and mine\nthree\n"})
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert repository.log() == ["Do 1", "Meanwhile", "Begin"]
    assert (repository.top / "a.txt").read_text() == "one\ntheirs and mine\nthree\n"
    assert (repository.top / "d.txt").exists()


async def test_a_failed_check_is_returned_with_the_end_of_its_output(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n", "built/cache": "kept\n"})

    def leave_files(worktree: Path) -> None:
        write(worktree, {"report.xml": "made by the check\n", "c.txt": "formatted\n"})

    repository.checks.before = leave_files
    repository.checks.failing = CheckFailure("make test", "exit code 2", "x" * 50_000 + "\n1 failed")
    repository.commit({"d.txt": "d\n"}, "Meanwhile")
    outcome = await repository.merge("1", worktree)
    assert isinstance(outcome, NotMerged)
    assert outcome.sentence == "The check `make test` failed (exit code 2)."
    assert outcome.words.endswith("1 failed")
    assert len(outcome.words) < 10_000
    assert repository.log() == ["Meanwhile", "Begin"]
    folder = Path(worktree.folder)
    assert (folder / "c.txt").read_text() == "c\n"
    assert not (folder / "report.xml").exists()
    assert (folder / "built" / "cache").exists()
    repository.checks.failing = None
    write(folder, {"c.txt": "mended\n"})
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert repository.git("show", "main:c.txt") == "mended"
    assert "report.xml" not in repository.git("ls-files")


async def test_a_users_change_is_never_overwritten(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"a.txt": "mine\n", "c.txt": "c\n"})
    write(repository.top, {"a.txt": "the user's\n"})
    with pytest.raises(WorkspaceError, match=r"a\.txt"):
        await repository.merge("1", worktree)
    assert (repository.top / "a.txt").read_text() == "the user's\n"
    repository.git("checkout", "--quiet", "a.txt")
    write(repository.top, {"c.txt": "the user's new file\n"})
    with pytest.raises(WorkspaceError, match=r"c\.txt"):
        await repository.merge("1", worktree)
    (repository.top / "c.txt").unlink()
    write(repository.top, {"b.txt": "elsewhere\n", "notes.txt": "mine\n"})
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert (repository.top / "b.txt").read_text() == "elsewhere\n"
    assert (repository.top / "notes.txt").read_text() == "mine\n"
    assert (repository.top / "a.txt").read_text() == "mine\n"


async def test_a_target_that_is_not_checked_out_is_moved(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n"})
    repository.git("switch", "--quiet", "--create", "elsewhere")
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert repository.log("main") == ["Do 1", "Begin"]
    assert not (repository.top / "c.txt").exists()


@pytest.mark.slow
async def test_a_users_own_rebase_is_not_disturbed(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n"})
    repository.commit({"d.txt": "d\n"}, "Another")
    repository.git(
        "-c", "sequence.editor=sed -i s/pick/edit/", "rebase", "--quiet", "--interactive", "HEAD~1"
    )
    with pytest.raises(WorkspaceError, match="rebase"):
        await repository.merge("1", worktree)
    repository.git("rebase", "--continue")
    assert isinstance(await repository.merge("1", worktree), Merged)


@pytest.mark.slow
async def test_merges_in_a_repository_run_one_after_another(repository: CardRepository) -> None:
    cards = {str(number): {f"file{number}.txt": "x\n"} for number in range(5)}
    opened = {card: await repository.card(card, files) for card, files in cards.items()}
    outcomes: list[Merged | NotMerged] = []

    async def merge(card: str) -> None:
        other = CardRepository(repository.top.parent)
        outcomes.append(await other.merge(card, opened[card]))

    async with anyio.create_task_group() as tasks:
        for card in cards:
            tasks.start_soon(merge, card)
    assert all(isinstance(outcome, Merged) for outcome in outcomes)
    assert sorted(repository.log()) == ["Begin", *(f"Do {card}" for card in cards)]
    assert repository.git("log", "--merges", "--format=%s") == ""


@pytest.mark.slow
async def test_a_target_that_moves_while_checks_run_is_followed(repository: CardRepository) -> None:
    worktree = await repository.card("1", {"c.txt": "c\n"})

    def commit_meanwhile(worktree: Path) -> None:
        if len(repository.checks.ran) == 1:
            repository.commit({"d.txt": "d\n"}, "Meanwhile")

    repository.checks.before = commit_meanwhile
    assert isinstance(await repository.merge("1", worktree), Merged)
    assert repository.log() == ["Do 1", "Meanwhile", "Begin"]
    assert len(repository.checks.ran) == 2


@pytest.mark.slow
async def test_git_lfs_files_are_left_to_the_user(repository: CardRepository) -> None:
    repository.commit({".gitattributes": "*.bin filter=lfs\n"}, "Store large files elsewhere")
    worktree = await repository.card("1", {"large.bin": "pointer\n"})
    with pytest.raises(WorkspaceError, match="Git LFS"):
        await repository.merge("1", worktree)
    assert repository.log()[0] == "Store large files elsewhere"
