"""Messages about merges: short ones for people, detailed ones for agents."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

MAX_HUNK_CHARACTERS: Final = 12_000
MAX_OUTPUT_CHARACTERS: Final = 6_000
MAX_NAMED: Final = 5
KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "UU": "changed by both",
        "AA": "added by both",
        "UD": "changed on {target}, deleted by you",
        "DU": "deleted on {target}, changed by you",
        "AU": "added on {target}",
        "UA": "added by you",
        "DD": "deleted by both",
    }
)
NOTHING_TO_MERGE: Final = "There was nothing to merge."
BRANCH_GONE: Final = "The branch {branch} is no longer checked out in the card's worktree."
BRANCH_GONE_WORDS: Final = (
    "Your work cannot be merged: this folder no longer has the branch {branch} checked out. Bring your work onto that "
    "branch and check it out."
)
UNDER_WAY: Final = "A merge or rebase in the card's worktree was started but not finished."
UNDER_WAY_WORDS: Final = (
    "Your work cannot be merged: git shows that a merge, rebase or cherry-pick has begun in this folder ({what}). "
    "Finish it or abort it."
)
MARKERS: Final = "Conflict markers are left in {files}."
MARKERS_WORDS: Final = (
    "Conflict markers (<<<<<<<, >>>>>>>) are left in: {files}. Edit these files so that they have the intended "
    "content, without markers."
)
CONFLICTS: Final = "Conflicts with {target} in {files}."
CONFLICTS_WORDS: Final = """\
{target} has changed since you began, in the same places as your work. Your work has been applied to the newest \
{target} as one uncommitted change in this folder. What conflicts:
{listed}

In these files, each conflict is marked: between <<<<<<< and ======= is what {target} has, between ======= and >>>>>>> \
is yours. Edit the files so that both intentions are kept, and remove the markers. Do not rebase, merge or reset; \
the merge is tried again when you are done. Your work as it was before is the commit {tip}.

{hunks}"""
CHECK_FAILED: Final = "The check `{command}` failed ({how})."
CHECK_FAILED_WORDS: Final = """\
Your work was put on top of the newest {target}, in this folder. Then the check `{command}` failed there ({how}). Fix \
that; the check is run again before your work is merged. The end of its output:

{output}"""
CHECK_TIMED_OUT: Final = "it took longer than {seconds:g} s"
NO_SANDBOX: Final = "The checks cannot run: this machine has no sandbox for them."
NO_SANDBOX_HINT: Final = "Set `boards: {confine_checks: false}` in config.yaml to run them without one."
EXIT_CODE: Final = "exit code {code}"
MERGED: Final = "Merged into {target} ({commit})."
NO_TARGET: Final = "No branch was checked out in {folder} when the card's worktree was created."
NO_TARGET_HINT: Final = "Merge {branch} yourself."
TARGET_GONE: Final = "The branch {target} no longer exists."
NOT_HERE: Final = "The worktree of card {card} is not on this machine."
TARGET_BUSY: Final = "A git operation in {folder} was started but not finished ({what})."
TARGET_BUSY_HINT: Final = "Finish it; the merge is tried again."
WOULD_OVERWRITE: Final = "{folder} has uncommitted changes in files that the merge also changes: {files}."
WOULD_OVERWRITE_HINT: Final = "Commit or stash them; the merge is tried again."
NOT_FORWARDED: Final = "The branch {target} in {folder} could not be fast-forwarded: {error}"
FILTERED: Final = (
    "The merge changes files that git passes through a filter program, such as Git LFS: {files}."
)
FILTERED_HINT: Final = "Merge it yourself: git merge --ff-only {branch}"
RACING: Final = "The branch {target} keeps changing."


def names_of(files: Sequence[str]) -> str:
    """Name the first few files, and say how many more there are."""
    more = len(files) - MAX_NAMED
    return ", ".join(files[:MAX_NAMED]) + (f" and {more} more" if more > 0 else "")


def conflict_words(target: str, kinds: Mapping[str, str], hunks: str, tip: str) -> str:
    """Describe conflicts to the agent that has to resolve them; `kinds` contains git's two letters for each file."""
    listed = "\n".join(
        f"- {path}: {KINDS.get(letters, 'conflict').format(target=target)}" for path, letters in kinds.items()
    )
    shown = hunks[:MAX_HUNK_CHARACTERS]
    if len(hunks) > len(shown):
        shown += "\n[more; read the files]"
    return CONFLICTS_WORDS.format(target=target, listed=listed, hunks=shown, tip=tip[:12])


def end_of(output: str) -> str:
    """Return the end of a command's output."""
    text = output.strip()
    return text if len(text) <= MAX_OUTPUT_CHARACTERS else f"[…]\n{text[-MAX_OUTPUT_CHARACTERS:]}"
