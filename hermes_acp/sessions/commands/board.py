"""`/board`: show a board, add and review cards, and follow a board as this session's plan."""

from typing import TYPE_CHECKING, Final

from msgspec import structs

from hermes_acp.core.errors import HermesError
from hermes_acp.core.events import OptionsChanged
from hermes_acp.core.ports.boards.board_ports import Boards
from hermes_acp.core.ports.boards.board_views import CardView
from hermes_acp.core.ports.boards.card_actions import (
    AddCard,
    ApproveCard,
    CardAction,
    CommentOnCard,
    MoveCard,
    SendBackCard,
)
from hermes_acp.core.ports.boards.cards import DEFAULT_BOARD, STATES, CardWork
from hermes_acp.sessions.builtin_commands import CommandServices, PromptCommand
from hermes_acp.sessions.card_commands import act_on_card, board_of

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn

MAX_LISTED: Final = 50
USAGE: Final = """\
`/board` lists the cards that are not done. More:

- `/board CARD`: show a card
- `/board add TITLE`: add a card for this folder; `/board ready CARD` starts work on it
- `/board comment CARD TEXT`
- `/board approve CARD`, `/board back CARD WHAT TO CHANGE`: review a result
- `/board follow [BOARD]`, `/board unfollow`: show a board as this session's plan
- `/take CARD`: work on a card here; `/answer CARD …` and `/park CARD …`"""
EMPTY: Final = "No cards. `/board add TITLE` adds one."


async def run(services: CommandServices, turn: "Turn", words: str) -> str:
    """List the cards, or carry out the action in `words`; if that is refused, return the reason."""
    action, _, rest = words.strip().partition(" ")
    rest = rest.strip()
    boards, board = services.boards(), board_of(turn)
    try:
        if action in ("follow", "unfollow"):
            return await _follow(boards, turn, rest or DEFAULT_BOARD if action == "follow" else "")
        if not action:
            return await _listed(boards, board)
        if action.isdecimal() and not rest:
            return _shown(await boards.view(board, action))
    except HermesError as error:
        return error.sentence()
    wanted = _action_of(action, rest, turn.record.cwd)
    return await act_on_card(boards, board, wanted) if wanted else USAGE


def _action_of(action: str, rest: str, cwd: str) -> CardAction | None:
    """Parse the action that the words describe; return None if they describe none."""
    card, _, text = rest.partition(" ")
    match action:
        case "add" if rest:
            return AddCard(rest, work=CardWork(cwd))
        case "ready" if card:
            return MoveCard(card, "ready")
        case "comment" if text:
            return CommentOnCard(card, text)
        case "approve" if card:
            return ApproveCard(card, text)
        case "back" if text:
            return SendBackCard(card, text)
        case _:
            return None


async def _follow(boards: Boards, turn: "Turn", board: str) -> str:
    """Show a board as the session's plan, or stop showing one. Raises BadRequest or StorageError."""
    if board:
        await boards.overview(board)
    turn.emit(OptionsChanged(structs.replace(turn.record.options, board=board)))
    return f"The plan shows the board {board!r}." if board else "The plan no longer shows a board."


async def _listed(boards: Boards, board: str) -> str:
    views = await boards.list(board, [state for state in STATES if state != "done"])
    lines = [_line(view) for view in views[:MAX_LISTED]]
    if len(views) > MAX_LISTED:
        lines.append(f"{len(views) - MAX_LISTED} more: `hermes-acp board list`")
    if halted := (await boards.overview(board)).halted:
        lines.append(f"\n{halted}")
    return "\n".join(lines) or EMPTY


def _line(view: CardView) -> str:
    card = view.card
    state = "queued" if view.is_queued else card.state.replace("_", " ")
    about = f"waits for {', '.join(view.waits_for)}" if view.waits_for else card.notes.reason
    return f"- **{card.id}** {card.title}: {state}" + (f" ({about})" if about else "")


def _shown(view: CardView) -> str:
    card = view.card
    parts = [_line(view), card.text.strip()]
    if card.notes.result:
        parts.append(f"Result: {card.notes.result.strip()}")
    parts += (f"{each.by.name or each.by.kind}: {each.text}" for each in card.comments)
    return "\n\n".join(filter(None, parts))


COMMAND = PromptCommand(
    "Look at a board, add and review cards, show a board as the plan",
    "CARD, add, ready, approve, back, follow",
    run,
)
