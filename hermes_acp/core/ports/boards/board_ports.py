"""The ports for boards: the log of a board, the boards of a profile, and the worktrees of cards."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from hermes_acp.core.ports.boards.board_views import BoardChanges, BoardView, CardView
from hermes_acp.core.ports.boards.card_actions import CardAction
from hermes_acp.core.ports.boards.card_events import Draft, LogEntry
from hermes_acp.core.ports.boards.cards import Actor, CardState


class BoardLog(Protocol):
    """The append-only log of one board, read and appended to by any number of processes."""

    async def read(self, after: int = 0) -> Sequence[LogEntry]:
        """Return the entries with higher numbers than the given one, oldest first. Raises StorageError."""
        ...

    async def append(self, drafts: Sequence[Draft], *, expected: int, at: float) -> Sequence[LogEntry] | None:
        """Append entries durably, all or none, provided that `expected` is the number of the last entry.

        Raises StorageError. Returns None without writing anything if it is not: the caller must read the new entries
        and decide again.
        """
        ...

    async def wait(self, after: int) -> None:
        """Wait until there may be an entry after the given number."""
        ...


class BoardLogs(Protocol):
    """The boards of a profile, by name."""

    @property
    def is_shared(self) -> bool:
        """Whether other machines use these boards too."""
        ...

    async def names(self) -> Sequence[str]:
        """Return the names of all boards, sorted. Raises StorageError."""
        ...

    async def create(self, name: str) -> bool:
        """Create a board; return False if it already exists. Raises StorageError."""
        ...

    async def remove(self, name: str) -> None:
        """Remove a board from the list; its files are archived. Raises StorageError."""
        ...

    def open(self, name: str) -> BoardLog:
        """Return a board's log without reading anything."""
        ...

    async def wait(self, known: Mapping[str, int], ignored: Collection[str] = ()) -> None:
        """Wait until a board may have an entry after its number in `known`, or was added or removed.

        Raises StorageError.
        """
        ...

    async def aclose(self) -> None:
        """Close everything that was opened."""
        ...


class Boards(Protocol):
    """The boards of a home folder, for use by slash commands."""

    async def overview(self, name: str) -> BoardView:
        """Return a board's limits and the number of cards in each state. Raises BadRequest or StorageError."""
        ...

    async def list(self, name: str, states: Collection[CardState] = ()) -> Sequence[CardView]:
        """List cards, starting with those that wait for a person. Raises BadRequest or StorageError."""
        ...

    async def view(self, name: str, card_id: str) -> CardView:
        """Return the card with the given ID. Raises BadRequest or StorageError."""
        ...

    async def act(self, name: str, action: CardAction, by: Actor) -> BoardChanges:
        """Carry out an action and return the changes, starting with the action's own card.

        Raises BadRequest or StorageError.
        """
        ...

    async def answer(self, name: str, card_id: str, words: str, by: Actor, call_id: str = "") -> None:
        """Answer a card's open question with `allow`, `deny` or text. Raises BadRequest or StorageError."""
        ...


class CardWorktree(Struct, frozen=True):
    """The worktree of a card: its folder and, in a repository, its branch and the commit from which the branch started.

    `has_lost_work` means that it was created without the changes in the card's last worktree.
    """

    folder: str
    branch: str = ""
    base: str = ""
    has_lost_work: bool = False


class Worktrees(Protocol):
    """Provides git worktrees for cards."""

    async def open(
        self, board: str, card_id: str, folder: str, last: CardWorktree | None = None
    ) -> CardWorktree:
        """Return the worktree for a card, creating it if necessary; outside repositories, return the folder itself.

        `last` is the card's last worktree, which may be on another machine. The card's session is bound to its folder,
        so the same folder is used with a new branch. Idempotent. Raises WorkspaceError.
        """
        ...

    async def remove(self, board: str, card_id: str, is_wanted: Callable[[], Awaitable[bool]]) -> None:
        """Remove a card's worktree after its work was merged or discarded. Idempotent. Raises WorkspaceError.

        `is_wanted` is called while nobody else can open the worktree; if it returns True, nothing is removed.
        """
        ...

    async def held(self, board: str) -> Mapping[str, str]:
        """Return the cards that have a worktree on this machine, with their branches."""
        ...
