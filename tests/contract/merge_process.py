"""A process that opens, merges or removes a card's worktree, and is killed at a chosen git call.

`python -m tests.contract.merge_process FOLDER CARD` does this; `killing_git` creates the git that kills.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import anyio

from hermes_acp.core.ports.boards.merge_ports import Merged
from tests.architecture.sources import ROOT
from tests.contract.card_repository import CardRepository

SCRIPT: Final = """#!/bin/sh
read -r number < "{count}"
number=$((number + 1))
echo $number > "{count}"
[ $number = {at} ] && kill -s KILL $PPID
exec {git} "$@"
"""


def killing_git(folder: Path, at: int) -> Path:
    """Create a git that kills its caller at the given call, and otherwise works normally."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "count").write_text("0\n")
    program = folder / "git"
    git = shutil.which("git")
    program.write_text(SCRIPT.format(count=folder / "count", at=at, git=git))
    program.chmod(0o755)
    return folder


def merge_in_process(folder: Path, card: str, *, kill_at: int) -> bool:
    """Merge a card's work in a separate process; return whether it was killed."""
    path = f"{killing_git(folder / 'programs', kill_at)}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [sys.executable, "-m", "tests.contract.merge_process", str(folder), card],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        check=False,
    )
    return done.returncode != 0


async def _merge(folder: Path, card: str) -> None:
    repository = CardRepository(folder)
    worktree = await repository.worktrees.open("board", card, str(repository.top))
    outcome = await repository.merge(card, worktree)
    if isinstance(outcome, Merged):
        await repository.remove(card)


if __name__ == "__main__":
    anyio.run(_merge, Path(sys.argv[1]), sys.argv[2])
