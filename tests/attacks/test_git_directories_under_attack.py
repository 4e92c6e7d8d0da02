"""Traces of a confined command in a git directory: objects, references, index and logs, nothing git acts on."""

import os
import subprocess
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from hermes_acp.workspaces.sandbox.sandbox_mounts import scan_roots
from hermes_acp.workspaces.sandbox.sandbox_policy import SandboxPolicy
from tests.attacks.sandboxes import Sandboxed, sandboxed

pytestmark = pytest.mark.anyio
IDENTITY = "git config --global user.name a; git config --global user.email a@b; "


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def box(tmp_path: Path) -> AsyncGenerator[Sandboxed]:
    async with sandboxed(tmp_path, "bubblewrap") as opened:
        (opened.folder / "a.txt").write_text("a\n")
        git(opened.folder, "add", "a.txt")
        git(opened.folder, "commit", "-qm", "first")
        git(opened.folder, "branch", "-M", "main")
        yield opened


def git(place: Path, *words: str, **variables: str) -> str:
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
        cwd=place,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


ORDINARY = {
    "commit": "echo b > b.txt; git add b.txt; git commit -qm b; git commit -q --amend -m c",
    "branch": "git checkout -qb topic; git branch -m topic other; git branch -d main; git checkout -qb main",
    "stash": "echo b >> a.txt; git stash -q; git stash pop -q",
    "merge": "git checkout -qb topic; git commit -q --allow-empty -m x; git checkout -q main; "
    "git merge -q --no-ff -m y topic",
    "conflict": "git checkout -qb topic; echo x > a.txt; git commit -qam x; git checkout -q main; echo y > a.txt; "
    "git commit -qam y; git merge topic; echo z > a.txt; git commit -qam z",
    "cherry-pick": "git checkout -qb topic; echo x > b; git add b; git commit -qm x; git checkout -q main; "
    "git commit -q --allow-empty -m y; git cherry-pick topic",
    "rebase": "git checkout -qb topic; echo x > b; git add b; git commit -qm x; git checkout -q main; "
    "git commit -q --allow-empty -m y; git rebase -q main topic",
    "tag": "git tag one; git tag -a two -m two; git tag -d one",
    "reset": "echo x > a.txt; git commit -qam x; git reset -q --hard HEAD~1; "
    "git revert --no-edit HEAD || git revert --abort",
    "pack": "git gc -q; git pack-refs --all",
    "work tree": "git worktree add -q t; echo x > t/b; git -C t add b; git -C t commit -qm x; git worktree remove t",
    "bisect": "git commit -q --allow-empty -m x; git bisect start -q; git bisect bad; "
    "git bisect good HEAD~1; git bisect reset",
    "notes": "git notes add -m x",
    "fetch": "git clone -q . /tmp/other; git -C /tmp/other commit -q --allow-empty -m x; git fetch -q /tmp/other",
}


@pytest.mark.parametrize("name", ORDINARY)
async def test_ordinary_work_leaves_nothing_to_quarantine(box: Sandboxed, name: str) -> None:
    before = git(box.folder, "config", "--list", "--local")
    end = await box.run(IDENTITY + ORDINARY[name])
    assert end.exit_code == 0, end.output
    assert "without approval" not in end.output
    assert "fatal" not in git(box.folder, "status")
    assert "error" not in git(box.folder, "fsck")
    assert git(box.folder, "config", "--list", "--local") == before


EVIL = "printf '[core]\\nfsmonitor = touch ran\\n' > "
STRAYS = {
    "config.worktree": f"{EVIL}.git/config.worktree",
    "rebase-merge": "mkdir .git/rebase-merge; cd .git/rebase-merge; echo 'exec touch ran' > git-rebase-todo; "
    "git rev-parse HEAD > onto; cp onto orig-head; cp onto head; echo refs/heads/main > head-name; "
    "touch interactive done; echo 1 > msgnum; echo 1 > end",
    "rebase-apply": "mkdir .git/rebase-apply; echo x > .git/rebase-apply/applying",
    "sequencer": "mkdir .git/sequencer; echo x > .git/sequencer/todo",
    "info/attributes": "mkdir -p .git/info; echo '* filter=x' > .git/info/attributes",
    "remotes": "mkdir .git/remotes; echo 'URL: ext::touch ran' > .git/remotes/origin",
    "config.lock": f"{EVIL}.git/config.lock",
    "COMMIT_EDITMSG": "rm -f .git/COMMIT_EDITMSG; ln -s ../../outside/new .git/COMMIT_EDITMSG",
    "logs/HEAD": "rm .git/logs/HEAD; ln -s ../../../outside/new .git/logs/HEAD",
    "modules/m/config": f"mkdir -p .git/modules/m/objects .git/modules/m/refs; cp .git/HEAD .git/modules/m; "
    f"{EVIL}.git/modules/m/config",
    "worktrees/w/commondir": "mkdir -p .git/worktrees/w evil/objects evil/refs; cp .git/HEAD .git/worktrees/w; "
    f"echo $PWD/evil > .git/worktrees/w/commondir; {EVIL}evil/config",
    "fsmonitor--daemon.ipc": "touch .git/fsmonitor--daemon.ipc",
    "objects/info/alternates": "echo $PWD/evil > .git/objects/info/alternates",
    "objects/info": "rm -r .git/objects/info; ln -s ../../../outside .git/objects/info",
    "HEAD.lock": "touch .git/HEAD.lock",
    "packed-refs.lock": "touch .git/packed-refs.lock",
    "shallow": "git rev-parse HEAD > .git/shallow",
}


@pytest.mark.parametrize("name", STRAYS)
async def test_files_that_git_acts_on_are_quarantined(box: Sandboxed, name: str) -> None:
    git(box.folder, "config", "extensions.worktreeConfig", "true") if name == "sequencer" else ""
    end = await box.run(f"git --version; {STRAYS[name]}")
    assert not os.path.lexists(box.folder / ".git" / name), end.output
    assert f"{Path(name).name}.unapproved" in end.output
    git(box.folder, "status")
    git(box.folder, "rebase", "--continue", GIT_EDITOR="true")
    git(box.folder, "commit", "-q", "--allow-empty", "-m", "later")
    assert not (box.folder / "ran").exists()
    assert os.listdir(box.outside) == ["canary"]
    assert "without approval" not in (await box.run("true")).output


async def test_files_that_a_running_git_needs_stay(box: Sandboxed) -> None:
    (box.folder / ".git/packed-refs.lock").touch()
    assert (await box.run("sleep 1000 & echo on")).left_running
    await box.run("git --version; touch .git/HEAD.lock")
    await box.run("true")
    assert {"HEAD.lock", "packed-refs.lock"} <= set(os.listdir(box.folder / ".git"))


async def test_an_existing_lock_and_objects_of_others_stay(box: Sandboxed) -> None:
    (box.folder / ".git/HEAD.lock").touch()
    alternates = box.folder / ".git/objects/info/alternates"
    alternates.write_text(f"{box.folder}/other\n")
    end = await box.run("git --version; echo /evil > .git/objects/info/alternates")
    assert end.exit_code != 0
    assert "without approval" not in end.output
    assert alternates.read_text() == f"{box.folder}/other\n"
    assert (box.folder / ".git/HEAD.lock").exists()


async def test_unfinished_operations_from_before_are_unchanged(box: Sandboxed) -> None:
    place = box.folder / ".git/rebase-merge"
    place.mkdir()
    (place / "git-rebase-todo").write_text("pick x\n")
    end = await box.run(
        "git --version; echo 'exec touch ran' >> .git/rebase-merge/git-rebase-todo; mv .git/rebase-merge .git/x"
    )
    assert (place / "git-rebase-todo").read_text() == "pick x\n"
    assert end.exit_code != 0


async def test_a_linked_work_tree_gets_no_settings_of_its_own(box: Sandboxed) -> None:
    git(box.folder, "config", "extensions.worktreeConfig", "true")
    git(box.folder, "worktree", "add", "-q", "t")
    await box.run(
        f"git --version; {EVIL}.git/worktrees/t/config.worktree; cp .git/worktrees/t/config.worktree .git/"
    )
    git(box.folder / "t", "status")
    git(box.folder, "status")
    assert not (box.folder / "t/ran").exists()
    assert not (box.folder / "ran").exists()


async def test_a_folder_with_a_head_that_points_elsewhere_is_a_repository(box: Sandboxed) -> None:
    line = "mkdir -p n/at far/objects far/refs; echo 'ref: refs/heads/main' > n/HEAD; echo ../far > n/commondir; "
    end = await box.run(f"{line}{EVIL}far/config")
    git(box.folder / "n", "--git-dir=.", "--work-tree=.", "status")
    git(box.folder / "n", "status")
    assert not list(box.folder.glob("**/ran"))
    assert "HEAD.unapproved" in end.output
    assert scan_roots((str(box.folder),), SandboxPolicy()).repositories == (f"{box.folder}/.git",)
