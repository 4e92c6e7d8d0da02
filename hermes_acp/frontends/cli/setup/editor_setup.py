"""Set up an editor: show the changes as a diff, ask, and write them."""

import difflib
import os
import time
from collections.abc import Mapping
from pathlib import Path

from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.frontends.cli.messages import editor_messages
from hermes_acp.frontends.cli.setup.editor_files import FileChange, plan_changes, this_machine
from hermes_acp.frontends.cli.setup.setup_console import confirm, is_terminal, say
from hermes_acp.storage.private_files import storage_error, write_whole


def set_up_editor(editor: str, variables: Mapping[str, str], *, is_agreed: bool, keeps_copy: bool) -> None:
    """Set up one editor after showing the diff; if `is_agreed`, nothing is asked.

    Files are written only after all of them were planned. Raises BadRequest if a file cannot be read or nobody can be
    asked, or StorageError.
    """
    machine = this_machine(variables)
    changes = [change for change in plan_changes(editor, machine) if change.is_needed]
    if not changes:
        say(editor_messages.already(editor))
        say(editor_messages.NEXT[editor])
        return
    for change in changes:
        say(diff_of(change))
    if not is_agreed:
        if not is_terminal():
            raise BadRequest(editor_messages.not_written(editor), hint=editor_messages.YES_HINT)
        if not confirm(editor_messages.write_question(len(changes)), default=True):
            say(editor_messages.not_written(editor))
            return
    for change in changes:
        if keeps_copy and change.before is not None:
            say(editor_messages.copied(str(_copy(change))))
        _write(change)
    say(editor_messages.written(editor))
    say(editor_messages.NEXT[editor])


def set_up_editors(
    editors: list[str], variables: Mapping[str, str], *, is_agreed: bool, keeps_copy: bool
) -> int:
    """Set up several editors, continuing after failures; return the exit code."""
    code = 0
    for editor in editors:
        try:
            set_up_editor(editor, variables, is_agreed=is_agreed, keeps_copy=keeps_copy)
        except HermesError as error:
            say(editor_messages.failed(editor, error.sentence()))
            code = max(code, error.exit_code)
    return code


def diff_of(change: FileChange) -> str:
    """Format a change as a unified diff."""
    lines = difflib.unified_diff(
        (change.before or "").splitlines(),
        change.after.splitlines(),
        str(change.path) if change.before is not None else os.devnull,
        str(change.path),
        lineterm="",
    )
    return "\n".join(lines)


def _copy(change: FileChange) -> Path:
    copy = change.path.with_name(f"{change.path.name}.bak-{time.strftime('%Y%m%d-%H%M%S')}")
    try:
        write_whole(copy, (change.before or "").encode(), mode=change.path.stat().st_mode & 0o777)
    except OSError as error:
        raise storage_error("write", copy, error) from error
    return copy


def _write(change: FileChange) -> None:
    """Write a file; a symbolic link is followed, because settings are often stored elsewhere."""
    path = change.path.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, change.after.encode(), mode=change.mode)
    except OSError as error:
        raise storage_error("write", path, error) from error
