"""The `hermes-acp sessions import` command: add sessions from a file of ATIF trajectories."""

import argparse
from pathlib import Path
from typing import Final

import anyio.to_thread

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.frontends.cli.cli_output import folder_named
from hermes_acp.frontends.cli.sessions import messages as export_messages
from hermes_acp.ids import RandomIds
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.tool_schema_store import ToolSchemaStore
from hermes_acp.trajectories.exporting_person import mask_of_environment
from hermes_acp.trajectories.session_import import PlannedSession, SessionImport

MAX_IMPORT_BYTES: Final = 512 << 20


async def import_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Add the sessions in a file, or none; return the exit code.

    Raises BadRequest if the file is not a trajectory or a session already exists, or StorageError.
    """
    planned = await anyio.to_thread.run_sync(_import, store, options)
    for each in planned:
        await store.amend(each.id)
        print(export_messages.imported(each.id, len(each.records) - 1))
    return 0


def _import(store: SessionStore, options: argparse.Namespace) -> list[PlannedSession]:
    environment = read_environment()
    content = _read(options.file)
    importing = SessionImport(store, mask_of_environment(environment), RandomIds(), _folder(options.cwd))
    try:
        planned = importing.plan(content)
    except BadRequest as error:
        raise BadRequest(
            export_messages.not_importable(options.file, error.message), hint=error.hint
        ) from error
    for each in planned:
        if store.path_of(each.id).exists():
            raise BadRequest(export_messages.already_there(each.id), hint=export_messages.ALREADY_THERE_HINT)
    importing.write(planned, ToolSchemaStore(environment.home))
    return planned


def _folder(named: str | None) -> str:
    return folder_named(named or ".") or ""


def _read(file: str) -> bytes:
    path = Path(file)
    try:
        if path.stat().st_size > MAX_IMPORT_BYTES:
            raise BadRequest(
                export_messages.import_too_large(file, MAX_IMPORT_BYTES), hint=export_messages.TOO_LARGE_HINT
            )
        return path.read_bytes()
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(export_messages.import_unreadable(file, reason)) from error
