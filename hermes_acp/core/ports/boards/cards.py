"""Cards on a board: units of work with states, links to other cards, and results."""

import re
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.core.ports.run_ports import DEFAULT_PRIORITY, RunBudget

CardState = Literal["inbox", "ready", "running", "input_required", "review", "merging", "done", "parked"]
"""`inbox` cards wait for a person; `ready` ones are started; `parked` ones stay until a person moves them."""
STATES: Final[tuple[CardState, ...]] = (
    *("inbox", "ready", "running", "input_required"),
    *("review", "merging", "done", "parked"),
)
LinkKind = Literal["blocks", "parent", "found_in"]
"""A card `blocks` another card, has another card as its `parent`, or was `found_in` the work on another card."""
ActorKind = Literal["person", "agent", "engine", "check"]
Worktree = Literal["own", "same"]
"""Whether a card is worked on in a git worktree of its own or in the folder itself."""
Approval = Literal["person", "checks"]
"""Who accepts finished work: a person or, for a card with a branch, its checks."""
BOARD_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")
DEFAULT_BOARD: Final = "default"
ORIGIN: Final = "board:"
"""The prefix of the origins of runs for cards, followed by the board's name."""


class Actor(Struct, frozen=True, omit_defaults=True, gc=False):
    """Who performs an action: a person (by name), an agent (by its session), the engine, or a check (by name)."""

    kind: ActorKind
    name: str = ""


ENGINE: Final = Actor("engine")


class Link(Struct, frozen=True, gc=False):
    """A card's relation to another card."""

    kind: LinkKind
    card_id: str


class CardWork(Struct, frozen=True, omit_defaults=True, gc=False):
    """The settings for the work on a card: its folder, options and limits. Priorities range from 1 (first) to 5.

    `checks` lists commands that must succeed before the result is merged. `place` is a label of the workers that may
    take the card; if empty, the board's label applies.
    """

    folder: str = ""
    worktree: Worktree = "own"
    mode: str = ""
    backend: str = ""
    model: str = ""
    budget: RunBudget = RunBudget()
    priority: int = DEFAULT_PRIORITY
    checks: tuple[str, ...] = ()
    place: str = ""
    approval: Approval = "person"


class Spending(Struct, frozen=True, omit_defaults=True, gc=False):
    """The tokens and money that were spent on work."""

    tokens: int = 0
    cost_usd: float = 0.0


class Attempt(Struct, frozen=True, omit_defaults=True, gc=False):
    """A run for a card or, without `run_id`, the work of a session that has taken the card.

    `number` counts the card's attempts. `is_open` means that it has not ended; `is_withdrawn`, that someone has since
    moved or changed the card, so the run must be stopped. `folder` is where it works; `branch` contains its commits and
    started at `base`. `machine` is the machine of the folder if several machines share the board.
    """

    number: int
    session_id: str
    run_id: str = ""
    at: float = 0.0
    is_open: bool = True
    is_withdrawn: bool = False
    folder: str = ""
    branch: str = ""
    base: str = ""
    spent: Spending = Spending()
    machine: str = ""


class Comment(Struct, frozen=True, gc=False):
    """A comment on a card, with its author and time (seconds since the epoch)."""

    by: Actor
    at: float
    text: str


class CardNotes(Struct, frozen=True, omit_defaults=True, gc=False):
    """Notes about a card's state: the result of the work, the reason for the state, and what to do in the next attempt.

    `reason` is the open question of an `input_required` card, or why a card is `parked`. `words` is the next prompt for
    a card that was sent back. `attempt` is the number of the attempt that produced the result.
    """

    result: str = ""
    reason: str = ""
    words: str = ""
    attempt: int = 0


class Stamp(Struct, frozen=True, gc=False):
    """The author and time (seconds since the epoch) of a change."""

    by: Actor
    at: float


class Card(Struct, frozen=True, omit_defaults=True, gc=False):
    """A unit of work. `text` is the prompt of its first attempt."""

    id: str
    title: str
    created: Stamp
    updated: Stamp
    text: str = ""
    state: CardState = "inbox"
    work: CardWork = CardWork()
    links: tuple[Link, ...] = ()
    attempt: Attempt | None = None
    comments: tuple[Comment, ...] = ()
    notes: CardNotes = CardNotes()
    spent: Spending = Spending()


class BoardSettings(Struct, frozen=True, omit_defaults=True):
    """The limits of a board: the total that its cards may use, and how many of its runs may be active.

    A board without `place` accepts any worker.
    """

    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_running: int | None = None
    place: str = ""


def run_id_of(board: str, card_id: str, number: int) -> str:
    """Return the ID of the run for an attempt."""
    return f"{board}.{card_id}.{number}"


def card_of_run(run_id: str) -> tuple[str, str, int] | None:
    """Return the board, card and attempt number of a run, or None if it does not belong to a card."""
    board, _, rest = run_id.partition(".")
    card_id, _, number = rest.rpartition(".")
    return (board, card_id, int(number)) if board and card_id and number.isdecimal() else None
