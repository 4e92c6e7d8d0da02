"""_hermes/sessions/search: search the text of all sessions of this home folder."""

from itertools import accumulate

from anyio.to_thread import run_sync
from msgspec import UNSET

from hermes_acp.core.ports.recall_ports import RecallQuery, SearchHit
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.natural_dates import read_range
from hermes_protocol import own

SEARCH_TIMEOUT_S = 2.0
MAX_RESULTS = 200


async def search_sessions(
    client: ClientConnection, params: own.SessionsSearchParams
) -> own.SessionsSearchResult:
    """Search, after indexing new records for up to two seconds. Raises BadRequest or StorageError.

    A query with neither words nor dates is refused, and so is a date that cannot be read.
    """
    cwd = params.cwd if isinstance(params.cwd, str) else None
    if params.by_meaning:
        await client.app.prepare_recall()
    # in a thread, because parsing the first date phrase imports a library
    since, until = await run_sync(read_range, params.since, params.until)
    asked = RecallQuery(
        params.query,
        cwd,
        limit=max(1, min(params.limit, MAX_RESULTS)),
        max_wait_s=SEARCH_TIMEOUT_S,
        by_meaning=params.by_meaning,
        since=since,
        until=until,
    )
    finds = await client.app.recall_service.search(asked)
    return own.SessionsSearchResult(
        found=[_entry(find) for find in finds.found],
        unread_sessions=finds.unread_sessions,
        note=finds.note or UNSET,
    )


def _entry(find: SearchHit) -> own.SessionsSearchFound:
    """Convert a hit; control characters in its snippet become the positions of the matching words."""
    pieces = find.snippet.replace("\x03", "\x02").split("\x02")
    ends = list(accumulate(map(len, pieces)))
    marks = [[start, end] for start, end in zip(ends[::2], ends[1::2], strict=False)]
    return own.SessionsSearchFound(
        session_id=find.session_id,
        title=find.title,
        cwd=find.cwd,
        updated_at=iso_time(find.updated_at),
        at=UNSET if find.at is None else iso_time(find.at),
        position=find.position,
        speaker=find.speaker,
        text="".join(pieces),
        highlights=marks,
    )


EXTENSION = Method(own.SessionsSearchParams, search_sessions)
