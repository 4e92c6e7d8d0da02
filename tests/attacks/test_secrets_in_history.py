"""Secrets in git's other branches, stashes and earlier commits: showing them needs approval."""

import os
import subprocess
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict

WORDS = ("git", "-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main")
SHOWING = (
    "git diff other",
    "git diff HEAD other",
    "git diff main..other",
    "git diff main...other -- .",
    "git diff other~1 other",
    "git show other",
    "git show other~0",
    "git show -m merged",
    "git show stash@{0}",
    "git log -p other",
    "git log -S KEY -p other",
    "git log -p --all",
    "git log -p --branches -3",
    "git log -p -g",
    "git log -p --since=2.weeks other",
    "git whatchanged -p --all",
    "git stash show -p",
    "git stash show -p stash@{0}",
    "git stash list -p",
    "git grep KEY other",
    "git diff-tree -p other",
    "git cat-file -p other:.env",
    "git range-diff HEAD...other",
    "git log -p",
    "git show {blob}",
    "git cat-file -p {blob}",
    "cd src && git diff other",
    "git -C src show other",
)
NOT_SHOWING = (
    "git diff",
    "git diff --cached",
    "git diff HEAD",
    "git diff other --stat",
    "git diff other -- src",
    "git diff other -- ':!.env'",
    "git show",
    "git show HEAD",
    "git show HEAD:src/x.py",
    "git show other --name-only",
    "git log -p -1",
    "git log -p -2 -- src",
    "git log --oneline --all",
    "git log other",
    "git stash list",
    "git grep KEY",
    "git ls-tree -r other",
    "git diff README.md",
)


def git(folder: Path, *words: str) -> str:
    done = subprocess.run([*WORDS, *words], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project").resolve()
    git(folder, "init", "-q")
    (folder / "src").mkdir()

    def commit(name: str, text: str) -> None:
        (folder / name).write_text(text)
        git(folder, "add", "-f", name)
        git(folder, "commit", "-qm", name)

    commit("README.md", "one\n")
    commit("old.pem", "KEY=1\n")
    git(folder, "rm", "-q", "old.pem")
    git(folder, "commit", "-qm", "remove")
    git(folder, "checkout", "-qb", "other")
    commit(".env", "KEY=hunter2\n")
    git(folder, "checkout", "-q", "main")
    git(folder, "checkout", "-qb", "merged")
    git(folder, "merge", "-q", "--no-ff", "-m", "merge", "other")
    git(folder, "checkout", "-q", "main")
    commit("src/x.py", "x = 1\n")
    commit("src/y.py", "y = 1\n")
    (folder / ".env").write_text("KEY=hunter2\n")
    git(folder, "add", "-f", ".env")
    git(folder, "stash", "-q")
    (folder / "src/x.py").write_text("x = 2\n")
    return folder


def judge(line: str, folder: Path) -> Verdict:
    policy = Policy("/home/me/.hermes", "/home/me", os.defpath.split(":"))
    return policy.judge([Runs(line, str(folder), (str(folder),), confined=True)], "ask", ())


@pytest.mark.parametrize("line", SHOWING)
def test_commands_that_show_secrets_in_history_need_approval(project: Path, line: str) -> None:
    blob = git(project, "rev-parse", "other:.env")
    verdict = judge(line.replace("{blob}", blob), project)
    assert verdict.decision == "ask"
    assert "usually contains secrets" in verdict.why


@pytest.mark.parametrize("line", NOT_SHOWING)
def test_commands_that_show_none_need_no_approval(project: Path, line: str) -> None:
    assert judge(line, project).decision == "allow"


def test_a_file_named_only_by_its_object_needs_approval(project: Path) -> None:
    done = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=project,
        input="KEY=hunter2 x",
        text=True,
        capture_output=True,
    )
    for line in ("git show ", "git cat-file -p "):
        assert judge(line + done.stdout.strip(), project).decision == "ask"


def test_the_check_starts_no_program_of_a_repository(project: Path) -> None:
    mark = project / "ran"
    settings = (project / ".git/config").read_text()
    evil = f"touch {mark}"
    more = f"""[core]
	fsmonitor = {evil}
	pager = {evil}
	sshCommand = {evil}
[diff]
	external = {evil}
[diff "x"]
	textconv = {evil}
	command = {evil}
[filter "x"]
	clean = {evil}
	smudge = {evil}
	process = {evil}
[log]
	showSignature = true
[gpg]
	program = {evil}
"""
    (project / ".git/info").mkdir(exist_ok=True)
    (project / ".git/info/attributes").write_text("* filter=x diff=x\n")
    (project / ".git/config").write_text(settings + more)
    try:
        for line in SHOWING:
            assert judge(line.replace("{blob}", "other:.env"), project).decision == "ask"
        assert not mark.exists()
    finally:
        (project / ".git/config").write_text(settings)
        (project / ".git/info/attributes").unlink()
