"""A repository with worktrees of cards: the user's own folder on `main`, and branches to be merged into it."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from hermes_acp.core.ports.boards.board_ports import CardWorktree
from hermes_acp.core.ports.boards.merge_ports import Merged, MergeRequest, NotMerged
from hermes_acp.runs.merging.merge_queue import CheckFailure, RepositoryMergeQueue
from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees


class RecordingChecks:
    """Checks that fail if a test says so; `before` runs in the worktree first."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, str]] = []
        self.failing: CheckFailure | None = None

    def before(self, worktree: Path) -> None:
        """Do nothing; a test replaces it by assignment."""

    async def run(self, repository: str, worktree: str, commands: Sequence[str]) -> CheckFailure | None:
        self.ran.append((repository, worktree))
        self.before(Path(worktree))
        return self.failing


class CardRepository:
    """The user's repository, the home, and the worktrees beside it."""

    def __init__(self, folder: Path, variables: dict[str, str] | None = None, name: str = "") -> None:
        self.top = folder / "project"
        self.home = folder / f"home{name}"
        self.carried: list[tuple[str, str]] = []
        self.checks = RecordingChecks()
        self.variables = variables or {"PATH": os.environ["PATH"], "HOME": str(folder)}
        self.worktrees = CardWorktrees(
            self.home,
            lambda: folder / f"worktrees{name}",
            self.variables,
            lambda source, place: self.carried.append((source, place)),
        )
        self.queue = RepositoryMergeQueue(self.worktrees, self.checks)

    def beside(self, name: str) -> "CardRepository":
        """Return the same repository as another machine uses it."""
        return CardRepository(self.top.parent, self.variables, name)

    def create(self) -> None:
        """Start with one commit of two files on `main`."""
        self.top.mkdir(parents=True)
        self.git("init", "--quiet", "--initial-branch=main")
        self.git("config", "user.name", "Ada")
        self.git("config", "user.email", "ada@example.com")
        self.commit({"a.txt": "one\ntwo\nthree\n", "b.txt": "b\n", ".gitignore": "built/\n"}, "Begin")

    def git(self, *arguments: str, at: Path | str = "") -> str:
        done = subprocess.run(
            ["git", *arguments], cwd=at or self.top, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    def commit(self, files: dict[str, str], message: str) -> str:
        """Commit as the user does, in their own folder."""
        write(self.top, files)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", message)
        return self.git("rev-parse", "HEAD")

    async def card(self, card_id: str, files: dict[str, str] | None = None) -> CardWorktree:
        """Open a card's worktree and make the changes its agent would make."""
        worktree = await self.worktrees.open("board", card_id, str(self.top))
        write(Path(worktree.folder), files or {})
        return worktree

    async def merge(self, card_id: str, worktree: CardWorktree) -> Merged | NotMerged:
        return await self.queue.merge(request(card_id, worktree, self.top))

    async def remove(self, card_id: str, *, is_wanted: bool = False) -> None:
        async def wanted() -> bool:
            return is_wanted

        await self.worktrees.remove("board", card_id, wanted)

    def log(self, branch: str = "main") -> list[str]:
        return self.git("log", "--format=%s", branch).splitlines()

    def worktree_count(self) -> int:
        return len(self.git("worktree", "list").splitlines()) - 1


def request(card_id: str, worktree: CardWorktree, top: Path) -> MergeRequest:
    return MergeRequest(
        "board", card_id, f"Do {card_id}", str(top), worktree.folder, worktree.branch, worktree.base
    )


def write(folder: Path, files: dict[str, str]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
