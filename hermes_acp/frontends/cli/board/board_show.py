"""Show boards and cards in a terminal, or as JSON."""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from anyio.to_thread import run_sync

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.cards import STATES, Card, CardState
from hermes_acp.frontends.cli.board import messages
from hermes_acp.frontends.cli.board.card_history import history_line
from hermes_acp.frontends.cli.cli_output import bold, escaped, exact_time, local_time, note, print_json
from hermes_acp.frontends.cli.runs.runs_show import question_lines

if TYPE_CHECKING:
    from hermes_acp.core.ports.boards.board_views import CardView
    from hermes_acp.runs.board.board_service import BoardService, CardDetails

TITLE_CHARACTERS = 60


async def print_list(service: "BoardService", options: argparse.Namespace) -> None:
    """Print the cards of a board, one per line."""
    chosen: Sequence[CardState] = options.state
    states = chosen or [each for each in STATES if options.all or each != "done"]
    views = await service.list(options.board, states)
    if options.json:
        print_json([_document(view) for view in views])
        return
    if not views:
        note(messages.EMPTY)
    for view in views:
        print(_line(view))
    if halted := (await service.overview(options.board)).halted:
        note(halted)


def _line(view: "CardView") -> str:
    card = view.card
    state = messages.QUEUED if view.is_queued else messages.STATES[card.state]
    title = card.title if len(card.title) <= TITLE_CHARACTERS else f"{card.title[: TITLE_CHARACTERS - 1]}…"
    about = messages.waits_for(view.waits_for) if view.waits_for else card.notes.reason
    return escaped(
        f"{card.id:>4}  {state:<13}  {title}" + (f"  ({' '.join(about.split())})" if about else "")
    )


async def print_boards(service: "BoardService", *, as_json: bool) -> None:
    """Print all boards with the number of their cards."""
    overviews = [await service.overview(name) for name in await service.names()]
    if as_json:
        print_json(msgspec.to_builtins(overviews))
        return
    for view in overviews:
        counts = ", ".join(
            f"{count} {messages.STATES[state]}" for state, count in view.counts.items() if count
        )
        print(f"{view.name:<20}  {counts}")


async def print_card(service: "BoardService", options: argparse.Namespace) -> None:
    """Print a card with all its details."""
    details = await service.show(options.board, options.card)
    if options.json:
        print_json(_full_document(details))
        return
    cards = (await service.board(options.board)).cards
    for line in _card_lines(details, cards):
        print(line)


def _card_lines(details: "CardDetails", cards: Mapping[str, Card]) -> Iterator[str]:
    card, attempt = details.view.card, details.view.card.attempt
    yield bold(escaped(f"{card.id}  {card.title}"))
    state = messages.QUEUED if details.view.is_queued else messages.STATES[card.state]
    facts = {
        "state": f"{state}. {card.notes.reason}".rstrip(". ") if card.notes.reason else state,
        "folder": card.work.folder,
        "branch": attempt.branch if attempt else "",
        "machine": attempt.machine if attempt else "",
        "session": attempt.session_id if attempt else "",
        "run": attempt.run_id if attempt else "",
        "checks": "; ".join(card.work.checks),
        "approval": card.work.approval if card.work.approval != "person" else "",
        "place": card.work.place,
        "used": messages.used(card.spent.tokens, card.spent.cost_usd) if card.spent.tokens else "",
        "created": f"{local_time(card.created.at)}, {card.created.by.name or card.created.by.kind}",
    }
    for name, value in facts.items():
        if value:
            yield f"{messages.FACTS[name] + ':':<10} {escaped(value)}"
    yield from map(escaped, _links(card, cards))
    if card.text.strip():
        yield f"\n{escaped(card.text.strip())}"
    for question in details.questions:
        yield ""
        yield from question_lines(card.id, question, messages.how_to_answer)
    if card.notes.result:
        yield f"\n{bold(messages.RESULT)}\n{escaped(card.notes.result.strip())}"
    if card.comments:
        yield f"\n{bold(messages.COMMENTS)}"
        for each in card.comments:
            yield escaped(f"{local_time(each.at)}  {each.by.name or each.by.kind}: {each.text}")
    yield f"\n{bold(messages.HISTORY)}"
    yield from (escaped(history_line(entry)) for entry in details.history)


def _links(card: Card, cards: Mapping[str, Card]) -> Iterator[str]:
    for link in card.links:
        other = cards.get(link.card_id)
        yield f"It {messages.LINKS[link.kind]} {link.card_id}{f' ({other.title})' if other else ''}."
    for other in cards.values():
        for link in other.links:
            if link.card_id == card.id:
                yield f"It {messages.INCOMING[link.kind]} {other.id} ({other.title})."


async def print_diff(
    service: "BoardService", options: argparse.Namespace, variables: Mapping[str, str]
) -> None:
    """Print the changes on a card's branch. Raises BadRequest or WorkspaceError."""
    from hermes_acp.git.branch_patch import patch_of

    card = (await service.show(options.board, options.card)).view.card
    attempt = card.attempt
    if attempt is None or not attempt.branch:
        raise BadRequest(messages.NO_BRANCH)
    patch = await run_sync(
        patch_of, variables, attempt.folder, card.work.folder, attempt.base, attempt.branch
    )
    print(patch, end="")


async def print_changes(service: "BoardService", board: str, *, as_json: bool) -> None:
    """Print each change until interrupted."""
    async with service.watch(board) as changes:
        async for change in changes:
            for view in change.cards:
                if as_json:
                    print(msgspec.json.encode(_document(view)).decode(), flush=True)
                else:
                    print(f"{local_time(view.card.updated.at, with_seconds=True)}  {_line(view)}", flush=True)


def _document(view: "CardView") -> dict[str, Any]:
    document = msgspec.to_builtins(view.card)
    for name in ("created", "updated"):
        document[name]["at"] = exact_time(document[name]["at"])
    return {**document, "state": view.card.state, "waits_for": view.waits_for, "is_queued": view.is_queued}


def _full_document(details: "CardDetails") -> dict[str, Any]:
    history = [
        {"at": exact_time(each.at), "by": each.by, "event": msgspec.to_builtins(each.event)}
        for each in details.history
    ]
    questions = [msgspec.to_builtins(each) for each in details.questions]
    return {**_document(details.view), "questions": questions, "history": history}
