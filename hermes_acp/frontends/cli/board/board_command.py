"""The `hermes-acp board` command: add, show and change cards, and accept or reject their results."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards import card_actions as actions
from hermes_acp.core.ports.boards.cards import Actor, BoardSettings, CardWork, Link, LinkKind
from hermes_acp.core.ports.run_ports import RunBudget
from hermes_acp.frontends.cli.board import messages
from hermes_acp.frontends.cli.board.board_flags import NO_LIMIT
from hermes_acp.frontends.cli.cli_output import escaped, folder_named, note, print_json
from hermes_acp.frontends.cli.runs.stored_runs import stored_runs
from hermes_acp.workspaces.processes.rlimit_tags import has_any_tag

if TYPE_CHECKING:
    from hermes_acp.core.ports.boards.card_actions import CardAction
    from hermes_acp.runs.board.board_service import BoardService
    from hermes_acp.runs.board.card_file_sync import CardFileSync

KINDS: Final[Mapping[str, LinkKind]] = MappingProxyType(
    {"blocks": "blocks", "parent": "parent", "found-in": "found_in"}
)
BUDGET_FLAGS: Final = ("max_steps", "max_tokens", "max_cost", "timeout")
STARTS_WORK: Final = ("add", "move", "send-back", "answer", "approve")


def run_board(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest or StorageError."""
    return anyio.run(_act, options, read_environment())


async def _act(options: argparse.Namespace, environment: Environment) -> int:
    from hermes_acp.app.service_factories import build_board_service
    from hermes_acp.clock import SystemClock
    from hermes_acp.runs.board.card_file_sync import CardFileSync

    runs = stored_runs(environment)
    service = build_board_service(environment, SystemClock(), runs)
    files = CardFileSync(service, environment.home / "boards")
    try:
        await _sync(service, files, options)
        if options.action in ("list", "show", "diff", "watch", "boards", "limits"):
            await _show(service, options, environment)
        elif options.action == "create":
            print(messages.created(options.name, is_new=await service.create(options.name)))
        elif options.action == "delete":
            _people_only()
            await service.remove(options.name)
            print(messages.deleted(options.name))
        elif options.action == "import":
            await _import(options.names, environment)
        else:
            await _change(service, options)
            await _sync(service, files, options)
        return 0
    finally:
        await service.aclose()
        await runs.aclose()


async def _import(names: Sequence[str], environment: Environment) -> None:
    """Move boards from this machine's files into the fleet's database."""
    from hermes_acp.runs.fleet.boards.board_import import import_boards

    _people_only()
    imported = await import_boards(environment, names)
    for each in imported:
        print(messages.imported(each.name, each.cards))
        if each.parked:
            note(messages.parked_by_import(each.parked))
    if not imported:
        note(messages.NOTHING_TO_IMPORT)


async def _sync(service: "BoardService", files: "CardFileSync", options: argparse.Namespace) -> None:
    """Apply edits that were made in card files; report those that could not be saved."""
    name = getattr(options, "board", "")
    if name in await service.logs.names():
        for problem in await files.sync(name):
            note(escaped(messages.not_saved(problem)))


async def _show(service: "BoardService", options: argparse.Namespace, environment: Environment) -> None:
    from hermes_acp.frontends.cli.board import board_show

    match options.action:
        case "list":
            await board_show.print_list(service, options)
            if service.logs.is_shared and any(environment.home.glob("boards/*/log.jsonl")):
                note(messages.NOT_IMPORTED)
        case "show":
            await board_show.print_card(service, options)
        case "diff":
            await board_show.print_diff(service, options, environment.variables)
        case "watch":
            await board_show.print_changes(service, options.board, as_json=options.json)
        case "boards":
            await board_show.print_boards(service, as_json=options.json)
        case _:
            await _set_limits(service, options)


def _actor() -> Actor:
    """Return who runs this command: a person, or an agent that started it."""
    import getpass

    return Actor("agent" if has_any_tag() else "person", getpass.getuser())


def _people_only() -> None:
    """Raise BadRequest if an agent runs this command."""
    if _actor().kind != "person":
        raise BadRequest(messages.PEOPLE_ONLY)


async def _change(service: "BoardService", options: argparse.Namespace) -> None:
    """Carry out the requested action, and confirm it."""
    by = _actor()
    if options.action == "add":
        card_id = await _add(service, options, by)
    else:
        card_id = options.card
        if options.action == "answer":
            await service.answer(options.board, card_id, " ".join(options.answer), by, options.call)
        else:
            await service.act(options.board, await _action_of(service, options), by)
    if options.action == "remove":
        print(messages.removed(card_id))
        return
    card = (await service.board(options.board)).cards[card_id]
    if options.action == "add" and options.json:
        print_json({"id": card_id, "state": card.state})
    else:
        print(messages.changed(card_id, card.state))
    may_start = options.action in STARTS_WORK and card.state in ("ready", "running", "merging")
    place = card.work.place or (await service.overview(options.board)).settings.place
    if may_start and not await service.runs.engine.has_worker(place):
        note(messages.NOBODY_WORKS)


async def _add(service: "BoardService", options: argparse.Namespace, by: Actor) -> str:
    """Add a card, and return its ID; work on it starts only after its links were added."""
    links = (Link("parent", options.parent),) if options.parent else ()
    work = _work_of(options, CardWork())
    add = actions.AddCard(options.title, _text_of(options) or "", "inbox", work, links)
    card_id = (await service.act(options.board, add, by)).cards[0].card.id
    for blocker in dict.fromkeys(options.blocked_by):
        await service.act(options.board, actions.LinkCard(blocker, Link("blocks", card_id)), by)
    if options.ready:
        await service.act(options.board, actions.MoveCard(card_id, "ready"), by)
    return card_id


async def _action_of(service: "BoardService", options: argparse.Namespace) -> "CardAction":
    """Build the action that the flags describe. Raises BadRequest."""
    card = options.card
    match options.action:
        case "edit":
            before = (await service.show(options.board, card)).view.card.work
            work = _work_of(options, before)
            text = _text_of(options)
            if options.title is None and text is None and work == before:
                raise BadRequest(messages.NO_TEXT)
            return actions.EditCard(card, options.title, text, work if work != before else None)
        case "move":
            return actions.MoveCard(card, options.to, options.reason)
        case "comment":
            return actions.CommentOnCard(card, " ".join(options.words))
        case "link" | "unlink":
            link = Link(KINDS[options.kind], options.other)
            return actions.LinkCard(card, link, is_removed=options.action == "unlink")
        case "approve":
            return actions.ApproveCard(card, " ".join(options.words))
        case "send-back":
            return actions.SendBackCard(card, " ".join(options.words))
        case "park":
            return actions.ParkCard(card, " ".join(options.words))
        case "remove":
            return actions.RemoveCard(card)
        case _:
            return actions.RestoreCard(card)


def _text_of(options: argparse.Namespace) -> str | None:
    return sys.stdin.read() if options.text == "-" else options.text


def _work_of(options: argparse.Namespace, before: CardWork) -> CardWork:
    """Return a card's work settings with the values from the flags."""
    changes: dict[str, object] = {}
    if options.cwd is not None:
        changes["folder"] = folder_named(options.cwd) or "."
    if options.same_folder:
        changes["worktree"] = "same"
    if options.check is not None:
        changes["checks"] = tuple(options.check)
    for name in ("mode", "model", "backend", "place", "priority", "approval"):
        if (value := getattr(options, name)) is not None:
            changes[name] = value
    limits = [getattr(options, flag) for flag in BUDGET_FLAGS]
    if any(each is not None for each in limits):
        kept = structs.astuple(before.budget)
        chosen = (kept[place] if each is None else each for place, each in enumerate(limits))
        changes["budget"] = RunBudget(*chosen)
    return structs.replace(before, **changes)


async def _set_limits(service: "BoardService", options: argparse.Namespace) -> None:
    """Set the limits that the flags name, and show all limits."""
    view = await service.overview(options.board)
    changes: dict[str, object] = {
        name: None if value == 0 else value
        for name, value in (
            ("max_tokens", options.tokens),
            ("max_cost_usd", options.cost),
            ("max_running", options.running),
        )
        if value is not None
    }
    if options.place is not None:
        changes["place"] = "" if options.place == NO_LIMIT else options.place
    settings: BoardSettings = structs.replace(view.settings, **changes)
    if changes:
        await service.create(options.board)
        await service.act(options.board, actions.ChangeBoard(settings), _actor())
    shown = messages.limits(
        tokens=settings.max_tokens,
        cost_usd=settings.max_cost_usd,
        running=settings.max_running,
        place=settings.place,
    )
    for name, value in shown.items():
        print(f"{name + ':':<11} {value}")
    if view.halted:
        note(view.halted)
