"""Find secret files whose content git would show from its history: earlier commits, other branches and stashes.

Git itself is asked which files a command would show, without letting the repository start programs. Everything here
blocks.
"""

import os
import re
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from msgspec import Struct

from hermes_acp.git.program_settings import INERT_SETTINGS, OFFLINE_SETTINGS
from hermes_acp.git.safe_git import GitProgram, settings_variables
from hermes_acp.git.work_tree import find_work_tree
from hermes_acp.policy.sensitive_names import is_sensitive

TIMEOUT_S: Final = 2.0
MAX_COMMITS: Final = 2_000
"""The number of commits checked if the command gives none; nobody reads the patches of more."""
MAX_REVISIONS: Final = 200
MAX_RESULTS: Final = 50
WALKING: Final = frozenset({"git log", "git whatchanged", "git range-diff"})
SINGLE: Final = frozenset({"git show", "git diff-tree"})
LISTING: Final = frozenset({"git grep"})
SELECTING: Final = (
    *("--all", "--branches", "--tags", "--remotes", "--glob", "--reflog", "-g", "--walk-reflogs"),
    *("--since", "--after", "--until", "--before"),
)
"""Options that select commits, in addition to those that limit their number."""
RANGE: Final = re.compile(r"\.{2,3}")
COUNTS: Final = ("-n", "--max-count", "--skip")
NAMES_ONLY: Final = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--no-textconv")


class HistoryError(Exception):
    """It could not be determined in time which files a command would show."""


class _Query(Struct, frozen=True):
    program: GitProgram
    top: str
    cwd: str

    def run(self, *arguments: str, given: bytes = b"") -> str:
        """Return git's output, or an empty string if git fails. Raises HistoryError."""
        variables = settings_variables((*INERT_SETTINGS, *OFFLINE_SETTINGS))
        try:
            process = self.program.start(arguments, self.cwd, variables, subprocess.PIPE)
        except (OSError, ValueError) as error:
            raise HistoryError from error
        with process:
            try:
                output, _ = process.communicate(given, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired as error:
                process.kill()
                raise HistoryError from error
        return output.decode("utf-8", "surrogateescape") if process.returncode == 0 else ""


def secrets_in_history(
    name: str, words: Sequence[str], cwd: str, search_path: Sequence[str]
) -> tuple[str, ...]:
    """Return the absolute paths of secret files that a git command would show from its history.

    `words` are its arguments. Raises HistoryError if that cannot be determined.
    """
    top = find_work_tree(cwd)
    program = next(
        (path for each in search_path if os.access(path := os.path.join(each, "git"), os.X_OK)), ""
    )
    if top is None or not program:
        return ()
    query = _Query(GitProgram(program, {"PATH": os.pathsep.join(search_path)}), top, cwd)
    asked = list(words[: words.index("--")] if "--" in words else words)
    paths = list(words[words.index("--") :] if "--" in words else ())
    names = _of_stash(query, asked) if name == "git stash" else _of_revisions(query, name, asked, paths)
    found = (os.path.join(top, each) for each in dict.fromkeys(names) if is_sensitive(f"/{each}"))
    return tuple(path for path, _ in zip(found, range(MAX_RESULTS), strict=False))


def _of_revisions(query: _Query, name: str, asked: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the files that a command shows from the revisions among its words; git treats other words as paths."""
    kinds = _kinds_of(query, asked)
    words = [word for word in asked if (ends := _ends_of(word)) and all(each in kinds for each in ends)]
    objects = [each for word in words for each in _ends_of(word)]
    if name in LISTING:
        return [
            path for each in objects for path in _split(query.run("ls-tree", "-r", "-z", "--name-only", each))
        ]
    if name == "git diff":
        return _between(query, objects, paths)
    if name not in WALKING | SINGLE | {"git cat-file"}:
        return []
    blobs = [each for each in objects if kinds[each] == "blob"]
    names = [path for each in blobs for path in _names_of(query, each)]
    commits = [each for each in words if each not in blobs]
    if name == "git cat-file" or (blobs and not commits):
        return names
    walk = ["--no-walk"] if name in SINGLE else _count(asked)
    walk += [each for each in asked if each.startswith(SELECTING)]
    log = query.run("log", "--format=", "-m", "--root", *NAMES_ONLY, *walk, *commits, *paths)
    return names + _split(log)


def _ends_of(word: str) -> list[str]:
    """Return the revisions that a word names: both ends of a range, or none for an option."""
    if word.startswith("-"):
        return []
    ends = RANGE.split(word.lstrip("^").removesuffix("^!").removesuffix("^@"))
    return [each or "HEAD" for each in ends]


def _kinds_of(query: _Query, asked: Sequence[str]) -> dict[str, str]:
    """Return the types of the objects that words name. Raises HistoryError if there are too many."""
    ends = list(dict.fromkeys(each for word in asked for each in _ends_of(word) if "\n" not in each))
    if len(ends) > MAX_REVISIONS:
        raise HistoryError
    if not ends:
        return {}
    lines = query.run(
        "cat-file", "--batch-check=%(objecttype)", given="\n".join((*ends, "")).encode()
    ).splitlines()
    kinds = ("blob", "commit", "tag", "tree")
    return {end: line for end, line in zip(ends, lines, strict=False) if line in kinds}


def _between(query: _Query, objects: Sequence[str], paths: Sequence[str]) -> list[str]:
    """Return the files that differ between revisions, or between a revision and the index."""
    if len(objects) == 1:
        return _split(query.run("diff-index", "--cached", *NAMES_ONLY, objects[0], *paths))
    pairs = pairwise(objects)
    return [
        name for pair in pairs for name in _split(query.run("diff-tree", "-r", *NAMES_ONLY, *pair, *paths))
    ]


def _of_stash(query: _Query, asked: Sequence[str]) -> list[str]:
    """Return the files in the stashes that a command names: by default the latest one, or all stashes that it lists."""
    kind = asked[0] if asked else "list"
    if kind == "list":
        return _split(query.run("log", "-g", "-m", "--format=", *NAMES_ONLY, "refs/stash"))
    named = [each for each in asked[1:] if not each.startswith("-")] or ["stash@{0}"]
    stashes = [f"stash@{{{each}}}" if each.isdigit() else each for each in named]
    names: list[str] = []
    for each in stashes:
        names += _split(query.run("diff-tree", "-r", *NAMES_ONLY, f"{each}^1", each))
        names += _split(query.run("ls-tree", "-r", "-z", "--name-only", f"{each}^3"))
    return names


def _names_of(query: _Query, blob: str) -> list[str]:
    """Return the names under which a file's content occurs in the history. Raises HistoryError if it does not occur."""
    shown = query.run("log", "--all", "--reflog", "--format=", "-m", *NAMES_ONLY, f"--find-object={blob}")
    if not (names := _split(shown)):
        raise HistoryError
    return names


def _count(asked: Sequence[str]) -> list[str]:
    """Return the options that limit how many commits are shown."""
    kept: list[str] = []
    for number, word in enumerate(asked):
        is_short = word[1:].isdigit() and word.startswith("-")
        if (
            is_short
            or word.startswith(tuple(f"{each}=" for each in COUNTS))
            or (word[:2] == "-n" and word[2:])
        ):
            kept.append(word)
        elif word in COUNTS and number + 1 < len(asked):
            kept += (word, asked[number + 1])
    return kept or [f"--max-count={MAX_COMMITS}"]


def _split(listing: str) -> list[str]:
    return [name for each in listing.split("\0") if (name := each.strip("\n"))]
