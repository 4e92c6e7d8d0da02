"""`/take`: work on a card in this session."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import NoteAdded
from hermes_acp.core.flow_labels import Source, SourcesRead
from hermes_acp.core.ports.boards.card_actions import TakeCard
from hermes_acp.core.ports.boards.cards import Card
from hermes_acp.sessions.builtin_commands import ActionCommand, CommandServices
from hermes_acp.sessions.card_commands import board_of, person

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.agent.turn.turn_endings import Ending

TASK: Final = """\
[The user wants you to work on card {card} of the board {board!r} now, in this session: {title}

{text}

When it is done, note the result with the tool `card` (action `result`).]"""


async def act(services: CommandServices, turn: "Turn", words: str) -> "Ending":
    """Take a card and have the model work on it. Raises BadRequest or StorageError."""
    from hermes_acp.agent.loop.turn_loop import run_turn

    named = words.split()
    if not named:
        raise BadRequest("/take needs a card.", hint="Write `/take 3`, for example.")
    board = board_of(turn)
    changes = await services.boards().act(board, TakeCard(named[0], turn.record.session_id), person())
    card = changes.cards[0].card
    if card.created.by.kind == "agent":
        source = Source("untrusted", f"card {card.id} of the board {board}")
        turn.emit(SourcesRead((source,)))
    turn.emit(NoteAdded(_task(board, card)))
    return await run_turn(turn)


def _task(board: str, card: Card) -> str:
    text = "\n".join((card.text, *(f"Comment: {each.text}" for each in card.comments)))
    return TASK.format(card=card.id, board=board, title=card.title, text=text.strip())


COMMAND = ActionCommand("Work on a card of the board in this session", "CARD", act)
