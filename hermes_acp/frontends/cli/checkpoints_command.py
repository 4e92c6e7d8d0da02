"""The `hermes-acp checkpoints` and `undo` commands: list and undo the file changes of turns.

An undo locks the session's record, because the session's model must be told. If another process has the record open,
that process performs the undo.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.checkpoint_ports import Checkpoint
from hermes_acp.frontends.cli.cli_output import (
    bold,
    escaped,
    exact_time,
    folder_named,
    local_time,
    note,
    print_json,
)
from hermes_acp.frontends.cli.messages import checkpoint_messages, command_messages

if TYPE_CHECKING:
    from hermes_acp.core.events import NoteAdded
    from hermes_acp.sessions.turn_undo import TurnUndo
    from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager
    from hermes_acp.storage.session_store import SessionStore

    Begin = Callable[[Callable[[NoteAdded], object]], TurnUndo]

MAX_TURNS: Final = 10_000


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    parser.set_defaults(action="list", json=False, session=None, cwd=".")
    listing = actions.add_parser("list", help=checkpoint_messages.LIST_HELP)
    diff = actions.add_parser("diff", help=checkpoint_messages.DIFF_HELP)
    restore = actions.add_parser("restore", help=checkpoint_messages.RESTORE_HELP)
    diff.add_argument("id", nargs="?", metavar="ID", help=checkpoint_messages.DIFF_ID_HELP)
    restore.add_argument("id", metavar="ID", help=checkpoint_messages.RESTORE_ID_HELP)
    restore.add_argument("path", nargs="*", metavar="FILE", help=checkpoint_messages.FILES_HELP)
    for action in (listing, diff):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    for action in (listing, diff, restore):
        _add_session(action)
    _add_force(restore)


def add_undo(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument(
        "count", nargs="?", type=_count, default=1, metavar="N", help=checkpoint_messages.COUNT_HELP
    )
    parser.add_argument("--redo", action="store_true", help=checkpoint_messages.REDO_HELP)
    _add_session(parser)
    _add_force(parser)


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help=checkpoint_messages.SESSION_HELP)
    parser.add_argument("--cwd", default=".", metavar="DIR", help=command_messages.FOLDER_HELP)


def _add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help=checkpoint_messages.FORCE_HELP)


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= MAX_TURNS:
        raise argparse.ArgumentTypeError(command_messages.not_a_number_from(text, 1, MAX_TURNS))
    return value


_count.__name__ = "number"


def run_checkpoints(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code: 1 if an undo was prevented."""
    import anyio

    return anyio.run(_run, options)


async def _run(options: argparse.Namespace) -> int:
    from hermes_acp.app.service_factories import build_session_store
    from hermes_acp.clock import SystemClock
    from hermes_acp.config.settings import load_settings
    from hermes_acp.ids import RandomIds
    from hermes_acp.memory.note_changes import NoteChanges
    from hermes_acp.sessions.checkpoint_service import checkpoint_retention, checkpoint_setup
    from hermes_acp.sessions.turn_undo import TurnUndo
    from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointIndex
    from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager

    environment = read_environment()
    section = load_settings(environment).checkpoints
    setup = checkpoint_setup(environment, section)
    clock = SystemClock()
    keeper = CheckpointManager(lambda: setup, lambda: checkpoint_retention(section), clock, RandomIds())
    folder = os.path.realpath(options.cwd)
    session_id = options.session or CheckpointIndex(setup.shadows_folder / "turns").newest_session(folder)
    if not session_id:
        raise BadRequest(checkpoint_messages.no_changes_in(folder), hint=checkpoint_messages.SESSION_HINT)
    store = build_session_store(environment)

    def undoing(tell: "Callable[[NoteAdded], object]") -> TurnUndo:
        return TurnUndo(keeper, NoteChanges(environment.home), clock.now, session_id, tell)

    try:
        if options.command == "undo":
            return await _undo(undoing, (store, session_id), options)
        if options.action == "list":
            return _show_list(session_id, await keeper.of_session(session_id), as_json=options.json)
        if options.action == "diff":
            return await _diff(keeper, session_id, options)
        return await _restore(undoing, (store, session_id), options)
    finally:
        await store.aclose()


def _show_list(session_id: str, checkpoints: Sequence[Checkpoint], *, as_json: bool) -> int:
    if as_json:
        print_json([_entry(each) for each in checkpoints])
        return 0
    print(checkpoint_messages.session_heading(escaped(session_id)))
    for each in reversed(checkpoints):
        title = each.title or (
            checkpoint_messages.UNDO_TITLE if each.kind == "undo" else command_messages.UNTITLED
        )
        print(f"{bold(each.id)}  {local_time(each.created_at)}  {escaped(title)}{_state(each)}")
        for file in each.files:
            old = f"{file.old_path} -> " if file.old_path else ""
            print(f"  {file.change:<9} {escaped(old + file.path)}")
        for path in each.left_out:
            print(f"  {checkpoint_messages.NOT_KEPT:<9} {escaped(path)}")
    return 0


def _state(each: Checkpoint) -> str:
    if each.undone_by:
        return f"  [{checkpoint_messages.UNDONE}]"
    return f"  [{checkpoint_messages.UNFINISHED}]" if each.is_torn else ""


def _entry(each: Checkpoint) -> dict[str, object]:
    return {
        "id": each.id,
        "session_id": each.session_id,
        "turn_id": each.turn_id,
        "created_at": exact_time(each.created_at),
        "title": each.title,
        "kind": each.kind,
        "files": [
            {"path": file.path, "change": file.change, "old_path": file.old_path or None}
            for file in each.files
        ],
        "left_out": each.left_out,
        "is_undone": bool(each.undone_by),
        "is_torn": each.is_torn,
    }


async def _diff(keeper: "CheckpointManager", session_id: str, options: argparse.Namespace) -> int:
    checkpoint_id = options.id
    if checkpoint_id is None:
        checkpoints = await keeper.of_session(session_id)
        if not checkpoints:
            raise BadRequest(checkpoint_messages.no_checkpoint(session_id))
        checkpoint_id = checkpoints[-1].id
    if options.json:
        files = await keeper.texts(session_id, checkpoint_id)
        print_json(
            [
                {
                    "path": each.path,
                    "old_text": each.old_text,
                    "new_text": each.new_text,
                    "binary": each.is_binary,
                }
                for each in files
            ]
        )
        return 0
    patches = await keeper.patches(session_id, checkpoint_id)
    for folder, patch in patches:
        if len(patches) > 1:
            note(checkpoint_messages.patch_of(escaped(folder)))
        _write_patch(patch)
    return 0


def _write_patch(patch: bytes) -> None:
    """Write a patch unchanged, except that control characters are made harmless if the output is a terminal."""
    if sys.stdout.isatty():
        print(plain_lines(patch.decode("utf-8", "replace")))
        return
    sys.stdout.flush()
    sys.stdout.buffer.write(patch)
    sys.stdout.buffer.flush()


async def _undo(begin: "Begin", record: "tuple[SessionStore, str]", options: argparse.Namespace) -> int:
    from hermes_acp.sessions.turn_undo import locked_record

    words = f"{options.count}{' force' if options.force else ''}"
    async with locked_record(*record) as tell:
        undoing = begin(tell)
        answer = await (undoing.redo(words) if options.redo else undoing.undo(words))
    print(plain_lines(checkpoint_messages.flags_of_commands(answer)))
    return 0 if undoing.is_done else 1


async def _restore(begin: "Begin", record: "tuple[SessionStore, str]", options: argparse.Namespace) -> int:
    from hermes_acp.sessions.turn_undo import locked_record

    paths = [path for path in map(folder_named, options.path) if path]
    async with locked_record(*record) as tell:
        undoing = begin(tell)
        done = await undoing.restore(options.id, paths or None, force=options.force)
    for path in done.restored:
        print(escaped(path))
    for conflict in done.conflicts:
        note(checkpoint_messages.conflict(escaped(conflict.path), conflict.why))
    return 0 if undoing.is_done else 1


def plain_lines(text: str) -> str:
    """Return multi-line text without characters that a terminal would interpret."""
    return "\n".join(escaped(line) for line in text.splitlines())
