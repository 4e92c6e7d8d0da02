"""session/list: the sessions that can be loaded, newest first."""

from collections.abc import Mapping

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.frontends.acp.session_setup.session_pages import page_of
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.session_store import ArchiveFilter
from hermes_protocol import v1


async def list_sessions(client: ClientConnection, params: v1.ListSessionsRequest) -> v1.ListSessionsResponse:
    """Return one page, and a cursor while there may be more.

    Raises BadRequest for an invalid cursor or filter.
    """
    archived = _filter(params.archived or "exclude")
    rows, cursor = await page_of(client, params.cwd or None, params.cursor or None, archived)
    prompts: Mapping[str, str] = {}
    if own_meta(params.meta).get("firstPrompts") is True:
        prompts = await client.app.session_admin.first_prompts([row.id for row in rows])
    sessions = [_info(row, prompts.get(row.id, ""), tells_archived=client.offers_unstable) for row in rows]
    return v1.ListSessionsResponse(sessions=sessions, next_cursor=cursor or v1.UNSET)


def _filter(asked: str) -> ArchiveFilter:
    match asked:
        case "exclude" | "include" | "only":
            return asked
        case _:
            raise BadRequest(errors.bad_archived_filter(asked))


def _info(row: SessionRow, first_prompt: str, *, tells_archived: bool) -> v1.SessionInfo:
    is_told = bool(first_prompt) and first_prompt != row.title
    return v1.SessionInfo(
        session_id=row.id,
        cwd=row.cwd,
        additional_directories=list(row.more_roots) if row.more_roots else v1.UNSET,
        title=row.title or v1.UNSET,
        updated_at=iso_time(row.updated_at),
        archived=row.is_archived if tells_archived else v1.UNSET,
        meta={"hermes": {"firstPrompt": first_prompt}} if is_told else v1.UNSET,
    )


METHOD = Method(v1.ListSessionsRequest, list_sessions)
