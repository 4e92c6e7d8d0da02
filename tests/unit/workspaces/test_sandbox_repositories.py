"""Detection of new repositories that could start programs, and the limits of the search for them."""

from pathlib import Path

import pytest

from hermes_acp.git.repository_hazards import MAX_MODULES, hazard_of_repository

USUAL = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n"


def made(place: Path, config: str = USUAL) -> Path:
    for name in ("objects", "refs", "hooks"):
        (place / name).mkdir(parents=True)
    (place / "HEAD").write_text("ref: refs/heads/main\n")
    (place / "config").write_text(config)
    (place / "hooks/pre-commit.sample").write_text("#!/bin/sh\n")
    return place


@pytest.mark.parametrize(
    "config",
    [
        USUAL,
        '[remote "origin"]\n\turl = git@example.com:a/b.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
        '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = Ada\n# a remark\n',
    ],
)
def test_files_written_by_git_itself_are_harmless(tmp_path: Path, config: str) -> None:
    assert hazard_of_repository(str(made(tmp_path / ".git", config)), ()) == ""


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\tfsmonitor = ./x\n",
        "[CORE]\nFsMonitor=./x\n",
        "[core] fsmonitor = ./x\n",
        "[core]\n\thooksPath = hooks2\n",
        "[core.a]\n\tpager = x\n",
        "[include]\n\tpath = ../evil\n",
        '[remote "a"]\n\turl = ext::sh -c x\n',
        '[remote "a"]\n\tuploadpack = x\n',
        '[submodule "a"]\n\tupdate = !x\n',
        "[core]\n\tfilemode = true \\\n",
        "[alias]\n\tst = !x\n",
        "[user]\n\tname = a\\\nb\n",
    ],
)
def test_anything_else_is_dangerous(tmp_path: Path, config: str) -> None:
    assert hazard_of_repository(str(made(tmp_path / ".git", config)), ())


def test_hooks_links_and_other_locations_are_dangerous(tmp_path: Path) -> None:
    hook = made(tmp_path / "a/.git")
    (hook / "hooks/post-checkout").write_text("x")
    leading = made(tmp_path / "b/.git")
    (leading / "commondir").write_text("../../a/.git\n")
    (tmp_path / "c").mkdir()
    (tmp_path / "c/.git").symlink_to(made(tmp_path / "fine"))
    module = made(tmp_path / "d/.git")
    made(module / "modules/inner", "[core]\n\tsshCommand = x\n")
    for place in (hook, leading, tmp_path / "c/.git", module):
        assert hazard_of_repository(str(place), ())


def test_a_git_file_is_checked_by_its_target(tmp_path: Path) -> None:
    whole = made(tmp_path / "main/.git")
    tree = whole / "worktrees/t"
    tree.mkdir(parents=True)
    (tree / "commondir").write_text("../..\n")
    (tmp_path / "t").mkdir()
    pointer = tmp_path / "t/.git"
    pointer.write_text(f"gitdir: {tree}\n")
    assert hazard_of_repository(str(pointer), (str(whole),)) == ""
    assert hazard_of_repository(str(pointer), ())
    (tree / "commondir").write_text(f"{tmp_path}/evil\n")
    assert hazard_of_repository(str(pointer), (str(whole),))


def test_a_repository_with_too_many_submodules_to_check_is_dangerous(tmp_path: Path) -> None:
    place = made(tmp_path / ".git")
    for number in range(MAX_MODULES + 2):
        inner = place / "modules" / f"m{number}"
        inner.mkdir(parents=True)
        (inner / "config").write_text(USUAL)
    assert hazard_of_repository(str(place), ())
