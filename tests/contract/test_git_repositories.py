"""Repositories as real git creates them: what they track, and which parts could start a program without approval."""

import os
import subprocess
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.shell.tracked_secrets import tracked_secret_files

LONG_AGO = 1_600_000_000


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a repository with tracked keys in two places and an untracked one."""
    place = tmp_path / "project"
    for name in (".env", "deep/er/certs/server.key", "a.py", "deep/b.py", "environment.py", "local.pem"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text("one\n")
        os.utime(place / name, (LONG_AGO, LONG_AGO))
    git(place, "init", "-q")
    git(place, "add", ".env", "deep", "a.py", "environment.py")
    git(place, "commit", "-qm", "first")
    return place


def verdict_on(folder: Path, command: str) -> tuple[str, str]:
    policy = Policy("/nowhere/hermes", "/home/anna", ("/usr/bin", "/bin"))
    verdict = policy.judge(
        [Runs(command, str(folder), (str(folder),), confined=True)], "ask", (), tool="terminal"
    )
    return verdict.decision, verdict.why


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_tracked_keys_are_found_in_every_index_version(folder: Path, version: str) -> None:
    (folder / "new.py").touch()
    git(folder, "add", "--intent-to-add", "new.py")  # What needs version 3.
    if version != "3":
        git(folder, "update-index", "--index-version", version)
    found = (str(folder / ".env"), str(folder / "deep/er/certs/server.key"))
    assert tracked_secret_files(str(folder)) == found
    assert tracked_secret_files(str(folder / "deep")) == found


def test_only_changed_keys_are_found_on_request(folder: Path) -> None:
    assert tracked_secret_files(str(folder), only_touched=True) == ()
    (folder / ".env").write_text("two\n")
    assert tracked_secret_files(str(folder), only_touched=True) == (str(folder / ".env"),)


def test_a_linked_work_tree_has_its_own_index(folder: Path, tmp_path: Path) -> None:
    git(folder, "worktree", "add", "-q", str(tmp_path / "other"))
    assert str(tmp_path / "other/.env") in tracked_secret_files(str(tmp_path / "other"))


@pytest.mark.parametrize(
    "command",
    [
        "git diff HEAD", "git diff --cached", "git show", "git log -p", "git grep one", "git log --stat -u",
        "git grep one -- deep", "git status -v", "git -C deep show", "grep -rn one .", "rg --hidden one deep",
        "find . -type f -exec cat {} +", "rg one",
    ],
)  # fmt: skip
def test_commands_that_may_show_a_key_need_approval(folder: Path, command: str) -> None:
    decision, why = verdict_on(folder, command)
    assert decision == "ask"
    assert "usually contains secrets" in why


@pytest.mark.parametrize(
    "command",
    [
        "git diff", "git status", "git log", "git show --stat", "git diff --name-only HEAD", "git log --stat",
        "git grep one -- a.py", "git diff HEAD -- a.py", "git show -- ':!.env' ':!deep/er/certs'",
        "git grep one -- ':!*.env' ':!*.key'", "grep -rn one . --include='*.py'", "rg -g '*.py' one", "rg -l one a.py",
    ],
)  # fmt: skip
def test_commands_that_show_no_key_do_not_need_approval(folder: Path, command: str) -> None:
    assert verdict_on(folder, command)[0] == "allow"


def test_a_change_to_a_key_needs_approval_and_the_alternative_is_named(folder: Path) -> None:
    (folder / ".env").write_text("two\n")
    decision, why = verdict_on(folder, "git diff")
    assert (decision, why.partition("; ")[2]) == ("ask", "-- ':!.env' avoids that")
    assert verdict_on(folder, "git diff -- ':!.env'")[0] == "allow"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"DIRC",
        b"DIRC\0\0\0\x02\0\0\xff\xff.env",
        b"XXXX" * 40,
        b"DIRC\0\0\0\x04\0\0\0\x09" + b"\xff.pem\0" * 60,
    ],
)
def test_a_broken_index_blocks_nothing(folder: Path, content: bytes) -> None:
    (folder / ".git/index").write_bytes(content)
    assert all(isinstance(path, str) for path in tracked_secret_files(str(folder)))


def test_a_folder_in_place_of_an_index_blocks_nothing(folder: Path) -> None:
    (folder / ".git/index").unlink()
    (folder / ".git/index").mkdir()
    assert tracked_secret_files(str(folder)) == ()
