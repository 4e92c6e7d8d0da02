"""hermes-acp checkpoints and undo: what turns changed in files, and taking it back.

Knows: the flags, which session is meant, how changes are shown. Does not know: how anything is kept or put back.
An undo holds the session's record meanwhile, as its model must be told of it; where an editor has that open, it is
undone there.
"""

import argparse
import difflib
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hermes_acp.config.environment import read_environment
from hermes_acp.core.checkpoint_types import Checkpoint, FileTexts
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import (
    bold,
    escaped,
    exact_time,
    folder_named,
    local_time,
    note,
    print_json,
)

if TYPE_CHECKING:
    from pathlib import Path

    from hermes_acp.core.events import NoteAdded
    from hermes_acp.sessions.turn_undo import TurnUndo
    from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager

    Begin = Callable[[Callable[[NoteAdded], object]], TurnUndo]


def add_checkpoints(parser: argparse.ArgumentParser) -> None:
    """Describe the subcommands and their flags."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", parser_class=type(parser))
    parser.set_defaults(action="list", json=False, session=None, cwd=".")
    listing = actions.add_parser(
        "list", help="list what the turns of a session changed, the newest first (the default)"
    )
    diff = actions.add_parser("diff", help="show what a turn changed, line by line")
    restore = actions.add_parser("restore", help="take back what one turn changed, or what an undo put back")
    diff.add_argument("id", nargs="?", metavar="ID", help="a checkpoint (default: the last one)")
    restore.add_argument("id", metavar="ID", help="a checkpoint")
    restore.add_argument("path", nargs="*", metavar="FILE", help="only these files")
    for action in (listing, diff):
        action.add_argument("--json", action="store_true", help="one JSON document")
    for action in (listing, diff, restore):
        _add_session(action)
    _add_force(restore)


def add_undo(parser: argparse.ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument(
        "count", nargs="?", type=_count, default=1, metavar="N", help="how many turns (default: 1)"
    )
    parser.add_argument("--redo", action="store_true", help="take back the last undo instead")
    _add_session(parser)
    _add_force(parser)


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--session", metavar="ID", help="the session (default: the last that changed files in --cwd)"
    )
    parser.add_argument("--cwd", default=".", metavar="DIR", help="the folder (default: this one)")


def _add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="put files back that were changed since, too")


def _count(text: str) -> int:
    value = int(text)
    if not 1 <= value <= 10_000:
        raise argparse.ArgumentTypeError(f"{text} is no number from 1 to 10000")
    return value


_count.__name__ = "number"


def run_checkpoints(options: argparse.Namespace) -> int:
    """Do what was asked; give the exit code: 1 where something was in the way of an undo."""
    import anyio

    return anyio.run(_run, options)


async def _run(options: argparse.Namespace) -> int:
    from hermes_acp.config.settings import load_settings
    from hermes_acp.memory.note_changes import NoteChanges
    from hermes_acp.sessions.checkpoint_service import checkpoint_retention, checkpoint_setup
    from hermes_acp.sessions.turn_undo import TurnUndo
    from hermes_acp.storage.checkpoints.checkpoint_index import CheckpointIndex
    from hermes_acp.storage.checkpoints.checkpoint_manager import CheckpointManager
    from hermes_acp.storage.session_store import SessionStore
    from hermes_acp.world import RandomIds, SystemClock

    environment = read_environment()
    section = load_settings(environment).checkpoints
    setup = checkpoint_setup(environment, section)
    clock = SystemClock()
    keeper = CheckpointManager(lambda: setup, lambda: checkpoint_retention(section), clock, RandomIds())
    folder = os.path.realpath(options.cwd)
    session_id = options.session or CheckpointIndex(setup.shelf / "turns").newest_session(folder)
    if not session_id:
        raise BadRequest(f"No session has changed a file in {folder!r} yet.", hint="Name one: --session ID.")
    store = SessionStore(environment.home)

    def undoing(tell: "Callable[[NoteAdded], object]") -> TurnUndo:
        return TurnUndo(keeper, NoteChanges(environment.home), clock.now, session_id, tell)

    try:
        if options.command == "undo":
            return await _undo(undoing, store.path_of(session_id), options)
        if options.action == "list":
            return _show_list(session_id, await keeper.of_session(session_id), as_json=options.json)
        if options.action == "diff":
            return await _diff(keeper, session_id, options)
        return await _restore(undoing, store.path_of(session_id), options)
    finally:
        store.close()


def _show_list(session_id: str, checkpoints: Sequence[Checkpoint], *, as_json: bool) -> int:
    if as_json:
        print_json([_entry(each) for each in checkpoints])
        return 0
    print(f"Session {escaped(session_id)}")
    for each in reversed(checkpoints):
        state = "  [undone]" if each.undone_by else "  [not finished]" if each.is_torn else ""
        title = each.title or ("Undo" if each.kind == "undo" else "Untitled")
        print(f"{bold(each.id)}  {local_time(each.created_at)}  {escaped(title)}{state}")
        for file in each.files:
            old = f"{file.old_path} -> " if file.old_path else ""
            print(f"  {file.change:<9} {escaped(old + file.path)}")
        for path in each.left_out:
            print(f"  not kept  {escaped(path)}")
    return 0


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
            raise BadRequest(f"Session {session_id!r} has no checkpoint.")
        checkpoint_id = checkpoints[-1].id
    files = await keeper.texts(session_id, checkpoint_id)
    if options.json:
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
    for each in files:
        print(_patch(each))
    return 0


def _patch(each: FileTexts) -> str:
    """Return one file's change as a patch; control characters of what is shown do nothing to a terminal."""
    path = each.path
    if each.is_binary:
        return f"Binary file {escaped(path)} differs"
    old, new = each.old_text, each.new_text
    lines = difflib.unified_diff(
        (old or "").splitlines(),
        (new or "").splitlines(),
        "/dev/null" if old is None else f"a{path}",
        "/dev/null" if new is None else f"b{path}",
        lineterm="",
    )
    return "\n".join(escaped(line) for line in lines)


async def _undo(begin: "Begin", record: "Path", options: argparse.Namespace) -> int:
    from hermes_acp.sessions.turn_undo import locked_record

    words = f"{options.count}{' force' if options.force else ''}"
    with locked_record(record) as tell:
        undoing = begin(tell)
        answer = await (undoing.redo(words) if options.redo else undoing.undo(words))
    print(plain_lines(_in_words_of_the_command_line(answer)))
    return 0 if undoing.is_done else 1


def _in_words_of_the_command_line(answer: str) -> str:
    for said, meant in (
        ("`/undo force`", "--force"),
        ("`/redo force`", "--force"),
        ("`/redo`", "`hermes-acp undo --redo`"),
    ):
        answer = answer.replace(said, meant)
    return answer


async def _restore(begin: "Begin", record: "Path", options: argparse.Namespace) -> int:
    from hermes_acp.sessions.turn_undo import locked_record

    paths = [path for path in map(folder_named, options.path) if path]
    with locked_record(record) as tell:
        undoing = begin(tell)
        done = await undoing.restore(options.id, paths or None, force=options.force)
    for path in done.restored:
        print(escaped(path))
    for conflict in done.conflicts:
        note(f"{escaped(conflict.path)}: {conflict.why}")
    return 0 if undoing.is_done else 1


def plain_lines(text: str) -> str:
    """Return a text of several lines with nothing in it that a terminal obeys."""
    return "\n".join(escaped(line) for line in text.splitlines())
