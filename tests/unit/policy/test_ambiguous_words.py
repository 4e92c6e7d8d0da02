"""Words that a shell, git or another program may interpret differently than they look."""

import contextlib
from pathlib import Path

import pytest

from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from hermes_acp.policy.verdicts import Verdict


def verdict(folder: Path, command: str, search_path: tuple[str, ...] = ()) -> Verdict:
    """Check a command in a folder without remembered answers."""
    place = str(folder)
    return Policy("/nowhere/hermes", "/home/anna", search_path).judge(
        [Runs(command, place, (place,), confined=True)], "ask", ()
    )


@pytest.mark.parametrize("pattern", ["'[a]'*", '"[a]"*', "\\[a]*", "'[a'*", "[a'-'c]*", "'*'*", "'?'[x]*"])
def test_a_quoted_part_of_a_pattern_is_not_a_wildcard(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "[a]x").symlink_to("/etc/shadow")
    (tmp_path / "b.txt").write_text("one\n")
    assert verdict(tmp_path, f"cat {pattern}").decision == "ask"


def test_quotes_beside_a_pattern_change_nothing(tmp_path: Path) -> None:
    (tmp_path / "my-src").mkdir()
    (tmp_path / "my-src" / "a.py").write_text("one\n")
    for command in ("cat 'my-src'/*.py", 'cat "my-src"/a.[px]*', "wc -l my-src/*'.py'"):
        assert verdict(tmp_path, command).decision == "allow"
    (tmp_path / "my-src" / "b.py").symlink_to("/etc/shadow")
    assert verdict(tmp_path, "cat 'my-src'/*.py").decision == "ask"


def test_a_pattern_can_match_the_parent_folder_in_some_shells(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (tmp_path / "notes.txt").write_text("one\n")
    assert verdict(work, "cat .*/notes.txt").decision == "ask"
    assert str(tmp_path) in verdict(work, "grep -r one .*").why
    assert verdict(work, "grep -r one .git*").decision == "ask"
    assert verdict(work, "ls -d .*").decision == "allow"


@pytest.mark.parametrize(
    "way", ["/proc/self/cwd", "//proc/./thread-self/cwd", "/proc/self/fd/../cwd", "src/own", "src/to-own"]
)
def test_files_that_differ_for_each_process_are_not_checked_by_the_agents_view(
    tmp_path: Path, way: str
) -> None:
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "own").symlink_to("/proc/self/cwd")
    (tmp_path / "src" / "to-own").symlink_to("own")
    (tmp_path / "src" / "near").symlink_to("../src")
    (tmp_path / "src" / "a.txt").write_text("one\n")
    # The check runs in the folder that contains the named files, as a server may.
    with contextlib.chdir(tmp_path):
        for command in (f"cat {way}/src/a.txt", f"cat < {way}/src/a.txt", f"cat {way}/*/a.txt"):
            assert verdict(tmp_path, command).decision == "ask"
    assert verdict(tmp_path, "cat src/near/a.txt").decision == "allow"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("git push --force", "git push contacts other machines"),
        ("kubectl get pods", "kubectl contacts other machines"),
        ("npm ci", "npm ci installs or removes software"),
        ("./configure", "./configure names a program by its path; only names without a path are recognised"),
        ('git commit -m "$(cat msg)"', "git commit changes the repository"),
        ("frobnicate x", "frobnicate may do more than read"),
        ("python -m site", "python runs any code it is given"),
    ],
)
def test_the_reason_is_in_plain_words(tmp_path: Path, command: str, why: str) -> None:
    assert verdict(tmp_path, command).why == why


def test_a_question_does_not_list_another_programs_words_as_files(tmp_path: Path) -> None:
    for command in ("sudo apt-get install jq", "sed -i 's/a/b/' x", "git -c core.pager=less log"):
        assert not {f"{tmp_path}/jq would change", "its program's name is written"} & {
            *verdict(tmp_path, command).why.split("; ")
        }
    _, steps = Policy("/nowhere/hermes", "/home/anna", ()).judge_steps(
        Runs("sed -i 's/a/b/' x", str(tmp_path), (str(tmp_path),), confined=True), "ask", ()
    )
    assert [each.step.reads for each in steps] == [()]
    assert [each.step.writes for each in steps] == [(f"{tmp_path}/x",)]
