"""The `hermes-acp sessions` commands that change stored sessions: delete, rename, archive and unarchive."""

import argparse
import sys

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import ArchiveChanged, TitleChanged
from hermes_acp.frontends.cli.cli_output import escaped, local_time
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.command_line.line_input import is_agreed
from hermes_acp.sessions.checkpoint_service import CheckpointService
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.session_rows import SessionRow, row_of
from hermes_acp.storage.session_store import SessionStore


async def rename_session(store: SessionStore, options: argparse.Namespace) -> int:
    """Set a session's title; return the exit code. Raises SessionNotFound, Busy or StorageError."""
    from hermes_acp.telemetry.redaction import Redactor

    stored = StoredSessions(store)
    session_id = stored.find(options.id)
    title = Redactor(()).clean(" ".join(" ".join(options.title).split()))
    if not title:
        raise BadRequest(session_messages.EMPTY_TITLE)
    await stored.add(session_id, TitleChanged(title))
    print(session_messages.renamed(session_id, escaped(title)))
    return 0


async def archive_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Archive or unarchive sessions; return the exit code. Raises SessionNotFound, Busy or StorageError."""
    stored = StoredSessions(store)
    is_archived = options.action == "archive"
    for session_id in [stored.find(named) for named in options.ids]:
        await stored.add(session_id, ArchiveChanged(is_archived=is_archived))
        print(session_messages.archived(session_id) if is_archived else session_messages.restored(session_id))
    return 0


async def delete_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Delete sessions permanently if the user agrees; return the exit code, which is 1 if not.

    Raises SessionNotFound, BadRequest if nobody can be asked, Busy if a process has a session open, or StorageError.
    """
    stored = StoredSessions(store)
    ids = list(dict.fromkeys(stored.find(named) for named in options.ids))
    if options.yes and (partial := next((named for named in options.ids if named not in ids), "")):
        raise BadRequest(session_messages.partial_id(partial), hint=session_messages.PARTIAL_ID_HINT)
    if not options.yes:
        if not sys.stdin.isatty():
            raise BadRequest(session_messages.DELETE_NEEDS_YES, hint=session_messages.DELETE_HINT)
        for session_id in ids:
            print(_described(session_id, row_of(store.path_of(session_id))))
        if not is_agreed(session_messages.may_delete(len(ids))):
            print(session_messages.NOTHING_DELETED)
            return 1
    environment = read_environment()
    for session_id in ids:
        await store.delete(session_id)
        await _forget(environment, store, session_id)
        print(session_messages.deleted(session_id))
    return 0


def _described(session_id: str, row: SessionRow | None) -> str:
    if row is None:
        return session_id
    return f"{session_id}  {local_time(row.updated_at)}  {escaped(row.title or command_messages.UNTITLED)}"


async def _forget(environment: Environment, store: SessionStore, session_id: str) -> None:
    """Delete the data of a deleted session in other stores: its embeddings and its checkpoints."""
    from hermes_acp.app.service_factories import build_recall_service
    from hermes_acp.clock import SystemClock
    from hermes_acp.ids import RandomIds

    recall_service = build_recall_service(environment, store)
    await recall_service.forget(session_id)
    await recall_service.aclose()
    checkpoints = CheckpointService(environment, lambda _: "", lambda: None, SystemClock(), RandomIds())
    await checkpoints.forget(session_id)
