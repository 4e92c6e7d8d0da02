"""Worktrees of cards are created once, found again, removed without losing work, and safe to create anywhere."""

import os
import shutil
from pathlib import Path

import anyio
import pytest

from hermes_acp.agent.background_tasks import background_tasks
from hermes_acp.runs.worktrees.worktree_records import WorktreeRecords
from tests.contract.card_repository import CardRepository, write

pytestmark = pytest.mark.anyio


@pytest.fixture
def repository(tmp_path: Path) -> CardRepository:
    repository = CardRepository(tmp_path)
    repository.create()
    return repository


async def test_a_card_has_a_worktree_on_its_own_branch(repository: CardRepository) -> None:
    first = await repository.card("1")
    second = await repository.card("2", {"a.txt": "other\n"})
    assert first.branch != second.branch
    assert (Path(first.folder) / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert repository.git("branch", "--show-current", at=first.folder) == first.branch
    assert repository.git("status", "--porcelain") == ""
    assert first.base == repository.git("rev-parse", "main")


async def test_the_same_card_gets_the_same_worktree_again(repository: CardRepository) -> None:
    first = await repository.card("1", {"new.txt": "kept\n"})
    async with anyio.create_task_group() as tasks:
        for _ in range(4):
            tasks.start_soon(repository.card, "1")
    again = await CardRepository(repository.top.parent).card("1")
    assert again == first
    assert (Path(again.folder) / "new.txt").read_text() == "kept\n"
    assert repository.worktree_count() == 1


async def test_a_subfolder_remains_the_sessions_folder(repository: CardRepository) -> None:
    repository.commit({"inner/c.txt": "c\n"}, "Add a folder")
    worktree = await repository.worktrees.open("board", "1", str(repository.top / "inner"))
    assert (Path(worktree.folder) / "c.txt").read_text() == "c\n"


async def test_folders_without_a_commit_are_used_as_they_are(repository: CardRepository) -> None:
    plain = repository.top.parent / "plain"
    plain.mkdir()
    assert (await repository.worktrees.open("board", "1", str(plain))).branch == ""
    empty = repository.top.parent / "empty"
    empty.mkdir()
    repository.git("init", "--quiet", at=empty)
    worktree = await repository.worktrees.open("board", "2", str(empty))
    assert (worktree.folder, worktree.branch) == (str(empty), "")


async def test_an_incomplete_worktree_is_recreated(repository: CardRepository) -> None:
    first = await repository.card("1")
    record = repository.worktrees.records.read("board", "1")
    assert record
    (Path(first.folder) / "a.txt").unlink()
    written = repository.home / "worktrees" / "board.1.json"
    written.write_text(written.read_text().replace('"ready"', '"creating"'))
    again = await repository.card("1")
    assert again == first
    assert (Path(again.folder) / "a.txt").exists()


async def test_removing_keeps_unmerged_work_on_its_branch_and_opening_continues_it(
    repository: CardRepository,
) -> None:
    worktree = await repository.card("1", {"new.txt": "unfinished\n"})
    await repository.remove("1")
    await repository.remove("1")
    assert not os.path.exists(worktree.folder)
    assert repository.worktree_count() == 0
    assert repository.git("show", f"{worktree.branch}:new.txt") == "unfinished"
    again = await repository.card("1")
    assert again.branch == worktree.branch
    assert (Path(again.folder) / "new.txt").read_text() == "unfinished\n"


async def test_removing_a_worktree_without_work_removes_its_branch(repository: CardRepository) -> None:
    worktree = await repository.card("1")
    await repository.remove("1")
    assert worktree.branch not in repository.git("branch", "--list", "--all")
    assert repository.worktrees.records.all() == []
    assert repository.carried[-1] == ("", worktree.folder)


async def test_programs_named_in_a_repositorys_settings_are_never_started(
    repository: CardRepository, tmp_path: Path
) -> None:
    """Filters, merge drivers, hooks and signing programs of the repository run neither at checkout nor during a
    merge.
    """
    trap, program = tmp_path / "trap", tmp_path / "program.sh"
    program.write_text(f"#!/bin/sh\necho started $* >> {trap}\ncat\n")
    program.chmod(0o755)
    repository.commit({".gitattributes": "*.txt filter=evil merge=evil diff=evil\n"}, "Name programs")
    settings = (
        "filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "merge.evil.driver",
        "diff.evil.textconv", "core.fsmonitor", "gpg.program", "core.sshCommand",
    )  # fmt: skip
    for name in settings:
        repository.git("config", name, str(program))
    repository.git("config", "filter.evil.required", "true")
    repository.git("config", "commit.gpgSign", "true")
    for hook in ("post-checkout", "pre-commit", "post-commit", "pre-rebase", "post-merge", "post-rewrite"):
        write(repository.top / ".git" / "hooks", {hook: program.read_text()})
        (repository.top / ".git" / "hooks" / hook).chmod(0o755)
    worktree = await repository.card("1", {"a.txt": "mine\n", "c.txt": "c\n"})
    repository.git("-c", "core.fsmonitor=false", "switch", "--quiet", "--detach")
    trap.unlink(missing_ok=True)
    await repository.merge("1", worktree)
    await repository.remove("1")
    assert not trap.exists()
    assert "Do 1" in repository.log()


async def test_adding_a_worktree_waits_for_another_that_is_being_added(repository: CardRepository) -> None:
    """For a moment, git has created the files of a new worktree but not written them; every other git then fails."""
    await repository.card("1")
    (file,) = (repository.top / ".git" / "worktrees").glob("*/commondir")
    content = file.read_text()
    file.write_text("")

    async def write_it() -> None:
        await anyio.sleep(0.2)
        file.write_text(content)

    async with background_tasks(write_it):
        second = await repository.card("2")
    assert (Path(second.folder) / "a.txt").read_text() == "one\ntwo\nthree\n"
    assert repository.worktree_count() == 2


PRUNED = """#!/bin/sh
case "$*" in *"worktree add"*)
    if [ ! -e "{once}" ]; then
        : > "{once}"
        echo "fatal: could not open '.git/worktrees/new/locked' for writing: No such file or directory" >&2
        exit 128
    fi ;;
esac
exec {git} "$@"
"""


async def test_a_new_worktree_whose_files_another_git_has_pruned_is_added_again(tmp_path: Path) -> None:
    """Until git has locked a new worktree, a prune mistakes its files for those of a lost one."""
    programs, once = tmp_path / "bin", tmp_path / "once"
    programs.mkdir()
    script = programs / "git"
    script.write_text(PRUNED.format(once=once, git=shutil.which("git")))
    script.chmod(0o755)
    variables = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(tmp_path)}
    repository = CardRepository(tmp_path, variables)
    repository.create()
    made = await repository.card("1")
    assert once.exists()
    assert (Path(made.folder) / "a.txt").read_text() == "one\ntwo\nthree\n"


async def test_the_lock_of_a_removed_card_is_removed_without_a_race(
    repository: CardRepository,
) -> None:
    records, inside = repository.worktrees.records, 0

    async def work(number: int) -> None:
        nonlocal inside
        for _ in range(20):
            async with WorktreeRecords(repository.home).lock_card("board", "1"):
                inside += 1
                await anyio.sleep(0.001 * (number % 3))
                assert inside == 1
                inside -= 1

    async with anyio.create_task_group() as tasks:
        for number in range(5):
            tasks.start_soon(work, number)
    folder = repository.home / "worktrees"
    assert list(folder.glob("*.lock")) == []
    await repository.card("1")
    assert [path.name for path in folder.glob("*.lock")] == ["board.1.lock"]
    await repository.remove("1")
    assert records.read("board", "1") is None
    assert list(folder.glob("*.lock")) == []


async def test_a_lock_held_by_a_surviving_process_stays(repository: CardRepository) -> None:
    records = repository.worktrees.records
    async with records.lock_card("board", "1") as descriptor:
        left = await anyio.open_process(["sleep", "60"], pass_fds=(descriptor,))
    async with left:
        with anyio.move_on_after(0.3) as waited:
            async with records.lock_card("board", "1"):
                pass
        assert waited.cancelled_caught
        left.kill()
    async with records.lock_card("board", "1"):
        pass
    assert list((repository.home / "worktrees").glob("*.lock")) == []
