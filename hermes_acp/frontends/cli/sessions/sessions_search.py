"""The `hermes-acp sessions search` command: search the text of all sessions."""

import argparse
import re
from typing import Final

from hermes_acp.config.environment import read_environment
from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit, SearchResults
from hermes_acp.frontends.cli.cli_output import (
    bold,
    escaped,
    exact_time,
    folder_named,
    local_time,
    note,
    print_json,
)
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.natural_dates import read_range
from hermes_acp.storage.session_store import SessionStore

CATCH_UP_S: Final = 20.0
FOUND = re.compile("\x02([^\x03]*)\x03")


async def search_sessions(store: SessionStore, options: argparse.Namespace) -> int:
    """Print the results, best first; return the exit code, which is 1 if there are none.

    Raises BadRequest for a query with neither words nor dates, or with an invalid date, or StorageError.
    """
    words, cwd = " ".join(options.query), folder_named(options.workspace)
    since, until = read_range(options.since, options.until)
    asked = RecallQuery(
        words, cwd, limit=options.limit, by_meaning=options.by_meaning, since=since, until=until
    )
    finds = await _search(store, asked)
    if finds.note:
        note(finds.note)
    if finds.unread_sessions:
        note(session_messages.sessions_unread(finds.unread_sessions))
    if options.json:
        print_json([_entry(find) for find in finds.found])
    elif not finds.found:
        note(command_messages.NOTHING_FOUND)
    else:
        for find in finds.found:
            head = f"{find.session_id} #{find.position} {find.speaker}"
            print(
                f"{bold(head)}  {local_time(find.at or find.updated_at)}"
                f"  {escaped(find.title)}  ({escaped(find.cwd)})"
            )
            pieces = FOUND.split(find.snippet)
            shown = (
                bold(escaped(piece)) if number % 2 else escaped(piece) for number, piece in enumerate(pieces)
            )
            print(f"  {''.join(shown)}\n")
    if finds.total > len(finds.found):
        note(session_messages.more_results(len(finds.found), finds.total, is_exact=finds.is_total_exact))
    return 0 if finds.found else 1


async def _search(store: SessionStore, asked: RecallQuery) -> SearchResults:
    if not asked.by_meaning:
        return await store.words.search(asked)
    from hermes_acp.app.service_factories import recall_by_settings

    async with recall_by_settings(read_environment(), store) as recall_service:
        left = await recall_service.catch_up(CATCH_UP_S)
        if left:
            note(session_messages.sessions_not_embedded(left))
        return await recall_service.search(asked)


def _entry(find: SearchHit) -> dict[str, object]:
    text, highlights = "", list[tuple[int, int]]()
    for number, piece in enumerate(FOUND.split(find.snippet)):
        if number % 2:
            highlights.append((len(text), len(text) + len(piece)))
        text += piece
    return {
        "session_id": find.session_id,
        "position": find.position,
        "speaker": find.speaker,
        "snippet": text,
        "highlights": highlights,
        "title": find.title,
        "cwd": find.cwd,
        "at": exact_time(find.at) if find.at else None,
        "updated_at": exact_time(find.updated_at),
    }
