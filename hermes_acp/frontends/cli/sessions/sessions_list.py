"""The `hermes-acp sessions list` command: list the stored sessions."""

import argparse
from collections.abc import AsyncIterator

from hermes_acp.frontends.cli.cli_output import (
    bold,
    escaped,
    folder_named,
    local_time,
    note,
    print_json,
)
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.cli.sessions.session_facts import about, usage_line
from hermes_acp.natural_dates import read_range
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import PAGE, SessionStore


async def list_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Print the sessions, newest first; return the exit code."""
    since, until = read_range(options.since, options.until)
    pages = _rows(store, folder_named(options.workspace), with_archived=options.archived)
    rows = _within(pages, since, until)
    if options.json:
        print_json([about(row) async for row in rows])
        return 0
    is_empty = True
    async for row in rows:
        is_empty = False
        archived = f"  [{session_messages.ARCHIVED}]" if row.is_archived else ""
        title = escaped(row.title or command_messages.UNTITLED)
        print(f"{bold(row.id)}  {local_time(row.updated_at)}  {title}{archived}")
        used = f"  {usage_line(row.usage)}" if row.usage else ""
        print(f"  {escaped(row.cwd)}{used}")
    if is_empty:
        note(session_messages.NO_SESSIONS if since is until is None else session_messages.NO_SESSIONS_THEN)
    return 0


async def _within(
    rows: AsyncIterator[SessionRow], since: float | None, until: float | None
) -> AsyncIterator[SessionRow]:
    """Yield the sessions that were created before `until` and last used after `since`."""
    async for row in rows:
        if since is not None and row.updated_at < since:
            return  # the newest sessions come first
        if until is None or row.created_at < until:
            yield row


async def _rows(store: SessionStore, cwd: str | None, *, with_archived: bool) -> AsyncIterator[SessionRow]:
    after = None
    while True:
        page = await store.page(cwd, after, "include" if with_archived else "exclude")
        for row in await store.with_usage(page):
            yield row
        if len(page) < PAGE:
            return
        after = (page[-1].updated_at, page[-1].id)
