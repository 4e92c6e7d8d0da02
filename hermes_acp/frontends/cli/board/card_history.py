"""Format the history of a card for `hermes-acp board show`, one line for each log entry."""

from typing import TYPE_CHECKING, Final

from hermes_acp.core.ports.boards.card_events import (
    AttemptNoted,
    AttemptStarted,
    BranchNoted,
    CardAdded,
    CardAnswered,
    CardCommented,
    CardEdited,
    CardEvent,
    CardLinked,
    CardMoved,
    CardRemoved,
    CardRestored,
    CardUnlinked,
)
from hermes_acp.frontends.cli.board import messages
from hermes_acp.frontends.cli.cli_output import local_time

if TYPE_CHECKING:
    from hermes_acp.core.ports.boards.card_events import LogEntry

MAX_TEXT: Final = 80


def history_line(entry: "LogEntry") -> str:
    """Format a log entry: when it was written, by whom, and what it changed."""
    return "  ".join((local_time(entry.at), entry.by.name or entry.by.kind, _change(entry.event)))


def _change(event: CardEvent) -> str:
    match event:
        case CardAdded():
            return messages.history_added(event.title, event.state)
        case CardEdited():
            names = ("title", "text", "work")
            return messages.history_edited([name for name in names if getattr(event, name) is not None])
        case CardMoved():
            return messages.history_moved(event.to, _short(event.reason))
        case CardCommented():
            return messages.history_commented(_short(event.text))
        case CardLinked():
            return messages.history_linked(event.link.kind, event.link.card_id)
        case CardUnlinked():
            return messages.history_unlinked(event.link.kind, event.link.card_id)
        case CardAnswered():
            return messages.history_answered(event.answer, _short(event.text))
        case AttemptStarted():
            return messages.history_started(event.attempt.number, event.attempt.run_id)
        case AttemptNoted():
            return messages.history_spent(
                event.number, event.spent.tokens, event.spent.cost_usd, is_open=event.is_open
            )
        case BranchNoted():
            return messages.history_branch(event.branch, event.folder)
        case CardRemoved():
            return messages.HISTORY_REMOVED
        case CardRestored():
            return messages.HISTORY_RESTORED
        case _:
            return messages.HISTORY_UNKNOWN


def _short(text: str) -> str:
    return " ".join(text.split())[:MAX_TEXT]
