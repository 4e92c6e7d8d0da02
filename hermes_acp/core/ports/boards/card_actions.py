"""The actions of people, agents and programs on a board; each results in log entries or is refused."""

from typing import Literal

from msgspec import Struct

from hermes_acp.core.event_types import PermissionAnswer
from hermes_acp.core.ports.boards.cards import BoardSettings, CardState, CardWork, Link


class AddCard(Struct, frozen=True, tag="add"):
    """Add a card; a `ready` one is started as soon as nothing blocks it.

    If the text is empty, the title is the prompt.
    """

    title: str
    text: str = ""
    to: Literal["inbox", "ready"] = "inbox"
    work: CardWork = CardWork()
    links: tuple[Link, ...] = ()


class EditCard(Struct, frozen=True, tag="edit"):
    """Change a card's text or settings; None leaves a field unchanged."""

    card_id: str
    title: str | None = None
    text: str | None = None
    work: CardWork | None = None


class MoveCard(Struct, frozen=True, tag="move"):
    """Move a card to another state."""

    card_id: str
    to: CardState
    reason: str = ""
    result: str = ""


class CommentOnCard(Struct, frozen=True, tag="comment"):
    """Write a comment on a card."""

    card_id: str
    text: str


class LinkCard(Struct, frozen=True, tag="link"):
    """Add a link to a card, or remove one."""

    card_id: str
    link: Link
    is_removed: bool = False


class AnswerCard(Struct, frozen=True, tag="answer"):
    """Answer the open question of a card's run, or the question about a particular call."""

    card_id: str
    answer: PermissionAnswer
    text: str = ""
    call_id: str = ""


class ApproveCard(Struct, frozen=True, tag="approve"):
    """Accept the result of a card in review: merge its branch or, without a branch, mark the card as done."""

    card_id: str
    comment: str = ""


class SendBackCard(Struct, frozen=True, tag="send_back"):
    """Send a card in review back for more work in the same session, with this prompt."""

    card_id: str
    words: str


class ParkCard(Struct, frozen=True, tag="park"):
    """Stop work on a card until someone moves it to ready."""

    card_id: str
    reason: str = ""


class TakeCard(Struct, frozen=True, tag="take"):
    """Assign a card to an open session instead of a run."""

    card_id: str
    session_id: str


class NoteResult(Struct, frozen=True, tag="result"):
    """Record the result of the work; the card goes to review when its run ends, or at once if a session took it."""

    card_id: str
    result: str


class NoteBranch(Struct, frozen=True, tag="branch"):
    """Record the folder, branch and machine of an attempt; used by the engine."""

    card_id: str
    folder: str
    branch: str = ""
    base: str = ""
    machine: str = ""


class RemoveCard(Struct, frozen=True, tag="remove"):
    """Remove a card from the board; it can be restored."""

    card_id: str


class RestoreCard(Struct, frozen=True, tag="restore"):
    """Restore a removed card to the board."""

    card_id: str


class ChangeBoard(Struct, frozen=True, tag="change_board"):
    """Change the limits of the board."""

    settings: BoardSettings


CardAction = (
    AddCard
    | EditCard
    | MoveCard
    | CommentOnCard
    | LinkCard
    | AnswerCard
    | ApproveCard
    | SendBackCard
    | ParkCard
    | TakeCard
    | NoteResult
    | NoteBranch
    | RemoveCard
    | RestoreCard
    | ChangeBoard
)
