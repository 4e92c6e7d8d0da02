"""Words that hide their meaning: a command runs without approval only with the exact words that the policy predicted.

Bash decides (`argv_oracle`). For a long run: `python -m bench.argv_oracle`.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hermes_acp.core.event_types import Mode
from hermes_acp.core.proposals import Runs
from hermes_acp.policy.policy_engine import Policy
from tests.attacks.argv_oracle import Run, Scene, compare, prepare, runs_of, scratch_folder, unforeseen

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what bash opened is read in /proc")

WORDS = 4_000


@pytest.fixture(scope="module")
def scenes() -> Iterator[list[Scene]]:
    """Prepare the folders."""
    with scratch_folder() as folder:
        yield prepare(folder)


def decision(command: str, folder: Path, mode: Mode = "ask") -> str:
    runs = [Runs(command, str(folder), (str(folder),), confined=True)]
    return Policy("/nowhere/hermes", "/home/anna").judge(runs, mode, ()).decision


def test_bash_reports_the_words_with_which_it_runs_programs(scenes: list[Scene]) -> None:
    odd = next(scene for scene in scenes if "/odd/" in scene.work)
    texts = ["cat 'a b'\\ c \"\" <b.txt", "true; wc *.txt", "cat $'\\xff'", "cat <(ls)"]
    one, two, three, four = runs_of(texts, odd)
    assert one == [Run(("cat", "a b c", ""), (f"{odd.work}/b.txt",))]
    assert two == [Run(("wc", "b.txt"), ())]
    assert three == [Run(("cat", "\udcff"), ())]
    assert sorted(run.argv[0] for run in four) == ["cat", "ls"]


def test_words_that_bash_reads_differently_are_detected(scenes: list[Scene]) -> None:
    scene = scenes[0]
    assert unforeseen("cat a", [Run(("cat", "b"), ())], scene)
    assert unforeseen("cat a*", [Run(("cat", "a", "sub/inner"), ())], scene)
    assert unforeseen("cat a", [Run(("cat", "a"), (f"{scene.work}/b.txt",))], scene)
    assert not unforeseen("cat a*", [Run(("cat", "a"), ())], scene)
    assert not unforeseen("rm a", [Run(("rm", "b"), ())], scene), (
        "a command that needs approval may be anything"
    )


@pytest.mark.slow
def test_past_findings_and_generated_words_are_predicted_or_need_approval() -> None:
    tally = compare(seed=14, words=WORDS)
    assert not tally.findings
    assert tally.unasked > tally.commands // 8, "a policy that asks about everything predicts nothing"


def test_a_name_that_bash_expands_once_more_needs_approval(scenes: list[Scene]) -> None:
    text = "cat a >&'$(wc b.txt)x'"
    assert ("wc", "b.txt") in [run.argv for run in runs_of([text], scenes[0])[0]]
    modes: tuple[Mode, ...] = ("ask", "accept_edits")
    for mode in modes:
        assert decision(text, Path(scenes[0].work), mode) == "ask"
        assert decision("cat a >& x", Path(scenes[0].work), mode) == "ask"
    assert decision("cat a 2>&1", Path(scenes[0].work)) == "allow"
    assert decision("cat a > '$(wc b.txt)x'", Path(scenes[0].work), "accept_edits") == "allow"


@pytest.mark.parametrize(
    "command",
    [
        'find . "-"\\exec touch x \\;',
        "sort a '-'\\o f",
        'head "."\\./"."\\./a',
        'cat {"."\\hidden,a}',
        "awk 'BEGIN{sys'\\tem'(\"id\")}'",
        'cat <a"b"\\c',
        'cat <<< "a"\\b',
        'for x in "a"\\b; do cat "$x"; done',
        'test -f "a"\\b && cat a',
        "grep -e '#'\\$",
        "cat x2<a",
        "[ -f a \n] && cat a",
        "[a = b ] && cat a",
        'echo "$(uniq \\ ])"',
        "for x in ''; do cat $x; done",
        "[ -f | cat ]",
        "[ -f > cat ]",
        "find =~ -delete",
        "cat <&- a",
        "cat <&-a",
        "cd sub && cat <<E\nx\nE",
    ],
)
def test_adjacent_parts_are_one_word(command: str, tmp_path: Path) -> None:
    assert decision(command, tmp_path) == "ask"


@pytest.mark.parametrize(
    "escape",
    [
        "\\x{2f}",
        "\\x{2f",
        "\\xe9",
        "\\u2f",
        "\\u002f",
        "\\U2f",
        "\\cA",
        "\\c.",
        "\\z",
        "\\400",
        "\\0",
        "\\x00",
        "\\1234",
        "\\x2e2",
        "\\x",
    ],
)
def test_unusual_escapes_need_approval(escape: str, tmp_path: Path) -> None:
    assert decision(f"cat $'a{escape}'", tmp_path) == "ask"
    assert decision(f"cat x > $'{escape}'", tmp_path) == "ask"


@pytest.mark.parametrize(
    "words", ["$'a\\tb'", "$'it\\'s'", "$'\\x41'", "$'\\101'", "'a'\"b\"c", "a\"$HOME\"'b'", "a$'\\n'b"]
)
def test_usual_quotes_and_escapes_run_without_approval(words: str, tmp_path: Path) -> None:
    assert decision(f"echo {words}", tmp_path) == "allow"
    assert decision(f"grep -n {words} *", tmp_path) == "allow"


def test_patterns_count_as_stars(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "\udcff").symlink_to("/etc/shadow")
    for pattern in ("a/?", "a/??", "a/[a-z]", "a/[!a]", "[a-b]/?"):
        assert decision(f"cat {pattern}", tmp_path) == "ask"
        assert decision(f"LC_ALL=C cat {pattern}", tmp_path) == "ask"
    for pattern in (".[e]nv", ".?nv", ".[^.]*", ".[[:lower:]]*"):
        assert decision(f"cat {pattern}", tmp_path) == "ask"
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "one.py").write_text("1\n")
    for pattern in ("b/?ne.py", "b/[no]*.py"):
        assert decision(f"cat {pattern}", tmp_path) == "allow"


def test_a_tilde_is_a_home_only_before_a_plain_slash(tmp_path: Path) -> None:
    assert decision("ls ~", tmp_path) == "allow"
    for word in ("~\\/a", '~"/a"', "~''/a", "~'/'", "~''", "''~/a", '""~'):
        assert decision(f"ls {word}", tmp_path) == "ask"
