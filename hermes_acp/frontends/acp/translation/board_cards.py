"""Convert board cards to the wire format, and clients' actions from it."""

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType, structs

from hermes_acp.core.ports.boards.cards import Actor, Card, CardWork
from hermes_acp.frontends.acp.translation.run_questions import question_entry
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hermes_acp.core.ports.boards.board_views import CardView
    from hermes_acp.core.ports.boards.card_actions import CardAction
    from hermes_acp.core.ports.boards.card_events import LogEntry
    from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
    from hermes_acp.runs.board.board_service import CardDetails

TEXTS = ("text", "result", "reason", "answer", "words", "branch", "title")
"""The fields of log entries that contain text for people, in order of preference."""


async def act_as_person(client: "ClientConnection", board: str, action: "CardAction") -> int:
    """Carry out an action for the client's user and return the new cursor. Raises BadRequest or StorageError."""
    changes = await client.app.board_service.act(board, action, Actor("person", client.name))
    return changes.board.cursor


def name_of(by: Actor) -> str:
    """Return the display name of an actor."""
    return by.name or by.kind if by.kind == "person" else f"{by.kind} {by.name}".strip()


def card_entry(view: "CardView") -> own.BoardListCard:
    """Convert a card to its entry in a list."""
    card, attempt = view.card, view.card.attempt
    return own.BoardListCard(
        id=card.id,
        title=card.title,
        state=card.state,
        reason=card.notes.reason,
        waits_for=list(view.waits_for),
        is_queued=view.is_queued,
        priority=card.work.priority,
        folder=card.work.folder,
        branch=attempt.branch if attempt else "",
        comments=len(card.comments),
        cost_usd=card.spent.cost_usd,
        session_id=attempt.session_id if attempt else "",
        updated_at=iso_time(card.updated.at),
    )


def details_entry(details: "CardDetails", cards: "Mapping[str, Card]") -> own.BoardShowResult:
    """Convert a card with all its details; `cards` are all cards of its board."""
    card, run = details.view.card, details.run
    attempt = card.attempt
    questions = [question_entry(each) for each in details.questions]
    return own.BoardShowResult(
        text=card.text,
        result=card.notes.result,
        words=card.notes.words,
        created_by=name_of(card.created.by),
        created_at=iso_time(card.created.at),
        **_work_of(card.work),
        links=_links(card, cards),
        comments=[
            own.BoardShowComment(by=name_of(each.by), at=iso_time(each.at), text=each.text)
            for each in card.comments
        ],
        run_id=attempt.run_id if attempt else "",
        run_state=run.state if run else "",
        base=attempt.base if attempt else "",
        tokens=card.spent.tokens,
        questions=msgspec.convert(msgspec.to_builtins(questions), list[own.BoardShowQuestion]),
        history=[_history_entry(each) for each in details.history],
    )


def _work_of(work: CardWork) -> "dict[str, Any]":
    return {
        "folder": work.folder,
        "worktree": work.worktree,
        "priority": work.priority,
        "max_cost_usd": work.budget.max_cost_usd,
        "checks": list(work.checks),
        "model": work.model,
        "place": work.place,
    }


def changed_work(work: CardWork, params: own.BoardAddParams | own.BoardEditParams) -> CardWork:
    """Return a card's work settings with a client's changes."""
    changes: dict[str, Any] = {
        name: value
        for name in ("folder", "worktree", "priority", "model", "place")
        if (value := getattr(params, name)) is not UNSET
    }
    if not isinstance(params.checks, UnsetType):
        changes["checks"] = tuple(params.checks)
    if params.max_cost_usd is not UNSET:
        changes["budget"] = structs.replace(work.budget, max_cost_usd=params.max_cost_usd)
    return structs.replace(work, **changes)


def _links(card: Card, cards: "Mapping[str, Card]") -> list[own.BoardShowLink]:
    outgoing = [(each, each.card_id, False) for each in card.links]
    incoming = [
        (link, other.id, True) for other in cards.values() for link in other.links if link.card_id == card.id
    ]
    return [
        own.BoardShowLink(
            kind=link.kind,
            card_id=other,
            title=cards[other].title,
            state=cards[other].state,
            is_incoming=is_incoming,
        )
        for link, other, is_incoming in (*outgoing, *incoming)
        if other in cards
    ]


def _history_entry(entry: "LogEntry") -> own.BoardShowHistory:
    event = entry.event
    said = (getattr(event, name, "") or "" for name in TEXTS)
    return own.BoardShowHistory(
        at=iso_time(entry.at),
        by=name_of(entry.by),
        kind=str(event.__struct_config__.tag),
        state=getattr(event, "to", ""),
        text=next((str(text) for text in said if text), ""),
    )
