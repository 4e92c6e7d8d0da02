"""States of work trees, stored and transferred with real git, even if the repository tries to run programs."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest

from hermes_acp.core.errors import ConfigError, WorkspaceError
from hermes_acp.git.object_exchange import ObjectExchange
from hermes_acp.git.repository_git import RepositoryGit, find_program, find_working_copy
from hermes_acp.git.workspace_snapshots import Snapshot, take_snapshot
from hermes_acp.runs.fleet.workspaces.folder_copies import FolderCopies
from hermes_acp.runs.fleet.workspaces.workspace_table import StoredFolder

VARIABLES = dict(os.environ)
TOKEN = "ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1I2j3K4l5M6n7O8"


def git(folder: Path, *words: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org")
    return subprocess.run(
        ["git", *identity, *words], cwd=folder, check=True, capture_output=True, text=True
    ).stdout


def everything(top: str, paths: Sequence[str]) -> Sequence[str]:
    return ()


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    git(tmp_path, "init", "--quiet", "--bare", "store.git")
    git(folder, "init", "--quiet", "-b", "main")
    (folder / "kept.txt").write_text("kept\n")
    (folder / "gone.txt").write_text("gone\n")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "-m", "Begin")
    return folder


def copies(tmp_path: Path, machine: str) -> FolderCopies:
    return FolderCopies(VARIABLES, tmp_path / f"exchange-{machine}", str(tmp_path / "store.git"), machine)


def stored(project: Path, state: Snapshot) -> StoredFolder:
    return StoredFolder(str(project), "one", state, 0.0)


def test_a_state_includes_uncommitted_changes_and_leaves_the_index_unchanged(project: Path) -> None:
    (project / "new folder").mkdir()
    (project / "new folder" / "ä.txt").write_text("new\n")
    (project / "gone.txt").unlink()
    (project / "kept.txt").write_text("staged\n")
    git(project, "add", "kept.txt")
    before = git(project, "status", "--porcelain")
    program = find_program(VARIABLES)
    copy = find_working_copy(program, str(project))
    assert copy
    state = take_snapshot(RepositoryGit(program, copy.top), copy, everything)
    assert git(project, "status", "--porcelain") == before
    names = git(project, "ls-tree", "-r", "-z", "--name-only", state.commit).split("\0")
    assert names == ["kept.txt", "new folder/ä.txt", ""]
    assert (state.head, state.branch) == (git(project, "rev-parse", "HEAD").strip(), "main")


def test_a_change_within_the_same_second_and_of_the_same_size_is_stored(project: Path) -> None:
    """Git notices such a change only because the index is not newer than the file."""
    git(project, "config", "core.trustctime", "false")
    file, second = project / "kept.txt", 1_700_000_000
    os.utime(file, (second, second))
    git(project, "update-index", "--refresh")
    os.utime(project / ".git" / "index", (second, second))
    file.write_text("more\n")
    os.utime(file, (second, second))
    program = find_program(VARIABLES)
    copy = find_working_copy(program, str(project))
    assert copy
    state = take_snapshot(RepositoryGit(program, copy.top), copy, everything)
    assert git(project, "show", f"{state.commit}:kept.txt") == "more\n"


def test_files_with_keys_are_excluded_and_committed_ones_keep_their_committed_content(
    project: Path, tmp_path: Path
) -> None:
    (project / ".env").write_text("A=b\n")
    (project / "settings.py").write_text(f"TOKEN = '{TOKEN}'\n")
    (project / "kept.txt").write_text(f"PASSWORD = '{TOKEN}'\n")
    state = copies(tmp_path, "one").store(str(project))
    assert state
    assert git(project, "ls-tree", "-r", "--name-only", state.commit).split() == ["gone.txt", "kept.txt"]
    assert git(project, "show", f"{state.commit}:kept.txt") == "kept\n"


def test_a_state_is_sent_once(project: Path, tmp_path: Path) -> None:
    one = copies(tmp_path, "one")
    assert one.store(str(project))
    assert one.store(str(project)) is None
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Again")
    assert one.store(str(project))


def test_a_new_repository_without_a_commit_is_transferred_too(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--bare", "store.git")
    folder = tmp_path / "fresh"
    folder.mkdir()
    git(folder, "init", "--quiet", "-b", "trunk")
    (folder / "first.txt").write_text("first\n")
    (folder / ".env").write_text("A=b\n")
    state = copies(tmp_path, "one").store(str(folder))
    assert state
    folder.rename(tmp_path / "away")
    copies(tmp_path, "two").bring(stored(folder, state))
    assert git(folder, "status", "--porcelain", "--branch") == "## No commits yet on trunk\n?? first.txt\n"


def test_a_copy_with_other_commits_is_rejected_and_one_that_only_lags_behind_is_not(
    project: Path, tmp_path: Path
) -> None:
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", str(project), str(clone))
    git(project, "commit", "--quiet", "--allow-empty", "-m", "More")
    (project / "kept.txt").write_text("more\n")
    state = copies(tmp_path, "one").store(str(project))
    assert state
    project.rename(tmp_path / "away")
    clone.rename(project)
    git(project, "commit", "--quiet", "--allow-empty", "-m", "Mine")
    with pytest.raises(WorkspaceError, match="has changes that the run's stored state does not have"):
        copies(tmp_path, "two").bring(stored(project, state))
    git(project, "reset", "--quiet", "--hard", "HEAD~")
    (project / "ignored").mkdir()
    copies(tmp_path, "two").bring(stored(project, state))
    assert (project / "kept.txt").read_text() == "more\n"
    assert git(project, "log", "-1", "--format=%s") == "More\n"


def test_commits_of_the_same_files_are_not_dropped(project: Path, tmp_path: Path) -> None:
    """A copy whose changes were committed after its state was stored has the files of that state, but more commits."""
    one, two = copies(tmp_path, "one"), copies(tmp_path, "two")
    (project / "kept.txt").write_text("changed\n")
    state = one.store(str(project))
    assert state
    original = project.rename(tmp_path / "original")
    two.bring(stored(project, state))
    (project / "kept.txt").write_text("of two\n")
    newer = two.store(str(project))
    assert newer
    project.rename(tmp_path / "rebuilt")
    original.rename(project)
    git(project, "commit", "--quiet", "--all", "-m", "Mine")
    with pytest.raises(WorkspaceError, match="has changes that the run's stored state does not have"):
        one.bring(StoredFolder(str(project), "two", newer, 0.0))
    assert git(project, "log", "-1", "--format=%s") == "Mine\n"


def test_local_changes_in_a_copy_are_kept_under_a_reference(project: Path, tmp_path: Path) -> None:
    one, two = copies(tmp_path, "one"), copies(tmp_path, "two")
    state = one.store(str(project))
    assert state
    original = project.rename(tmp_path / "original")
    two.bring(stored(project, state))
    (project / "kept.txt").write_text("of two\n")
    (original / "kept.txt").write_text("of one\n")
    rebuilt = project.rename(tmp_path / "rebuilt")
    original.rename(project)
    newer = one.store(str(project))
    assert newer
    project.rename(original)
    rebuilt.rename(project)
    two.bring(stored(project, newer))
    assert (project / "kept.txt").read_text() == "of one\n"
    kept = git(project, "for-each-ref", "--format=%(refname)", "refs/hermes-acp/kept").strip()
    assert git(project, "show", f"{kept}:kept.txt") == "of two\n"


def test_an_unrelated_folder_in_its_place_is_left_alone(project: Path, tmp_path: Path) -> None:
    state = copies(tmp_path, "one").store(str(project))
    assert state
    project.rename(tmp_path / "away")
    project.mkdir()
    (project / "other.txt").write_text("other\n")
    with pytest.raises(WorkspaceError, match="something else is there"):
        copies(tmp_path, "two").bring(stored(project, state))
    assert os.listdir(project) == ["other.txt"]
    assert not [name for name in os.listdir(tmp_path) if ".hermes-acp-" in name]


def test_a_repository_starts_no_program_and_connects_to_no_other_address(
    project: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch {proof}\ncat\n")
    program.chmod(0o755)
    other = tmp_path / "other.git"
    git(tmp_path, "init", "--quiet", "--bare", str(other))
    for name, value in {
        "core.fsmonitor": str(program),
        "core.hooksPath": str(tmp_path),
        "core.sshCommand": str(program),
        "filter.evil.clean": str(program),
        "filter.evil.smudge": str(program),
        f"url.{other}.insteadOf": str(tmp_path / "store.git"),
        f"url.{other}.pushInsteadOf": str(tmp_path / "store.git"),
    }.items():
        git(project, "config", name, value)
    (tmp_path / "pre-push").symlink_to(program)
    (project / ".gitattributes").write_text("* filter=evil\n")
    state = copies(tmp_path, "one").store(str(project))
    assert state
    assert not git(other, "for-each-ref")
    assert git(tmp_path / "store.git", "for-each-ref")
    project.rename(tmp_path / "away")
    copies(tmp_path, "two").bring(stored(project, state))
    assert (project / "kept.txt").read_text() == "kept\n"
    assert not proof.exists()


@pytest.mark.parametrize("address", ["ext::sh -c true", "--upload-pack=x", "store", "", "git://host/x"])
def test_an_invalid_repository_address_is_rejected(tmp_path: Path, address: str) -> None:
    with pytest.raises(ConfigError, match="is not the address of a git repository"):
        ObjectExchange(find_program(VARIABLES), tmp_path, address)
