"""_hermes/usage/list: the usage of sessions, by a group and by session."""

from datetime import datetime, timedelta
from typing import Final

from msgspec import structs

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.session_setup.session_pages import page_of
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.storage.session_rows import SessionRow
from hermes_acp.storage.usage.usage_index import UsageTotal
from hermes_protocol import own

MAX_DAYS: Final = 400
MAX_SESSIONS: Final = 1000


async def list_usage(client: ClientConnection, params: own.UsageListParams) -> own.UsageListResult:
    """Update the usage index and read it. Raises StorageError."""
    wanted = max(1, min(params.days, MAX_DAYS))
    today = datetime.fromtimestamp(client.app.run_service.now()).astimezone()
    first = today - timedelta(days=wanted - 1)
    days = (_day(first), _day(today))
    report = await client.app.usage_service.report(params.by, days)
    used = await client.app.usage_service.sessions(days)
    rows, is_whole = await _changed_since(client, first.replace(hour=0, minute=0, second=0).timestamp())
    return own.UsageListResult(
        groups=[own.UsageListGroup(**structs.asdict(each)) for each in report.sums],
        sessions=[_session(row, used[row.id]) for row in rows if row.id in used],
        first_day=days[0],
        last_day=days[1],
        is_whole=is_whole,
    )


def _day(at: datetime) -> str:
    return at.strftime("%Y-%m-%d")


async def _changed_since(client: ClientConnection, since: float) -> tuple[list[SessionRow], bool]:
    rows: list[SessionRow] = []
    cursor: str | None = None
    while len(rows) < MAX_SESSIONS:
        page, cursor = await page_of(client, None, cursor, "include")
        rows += [row for row in page if row.updated_at >= since]
        if cursor is None or page[-1].updated_at < since:
            return rows, True
    return rows[:MAX_SESSIONS], False


def _session(row: SessionRow, used: UsageTotal) -> own.UsageListSession:
    return own.UsageListSession(
        session_id=row.id,
        title=row.title,
        cwd=row.cwd,
        updated_at=iso_time(row.updated_at),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
    )


EXTENSION = Method(own.UsageListParams, list_usage, access="any")
"""The method's specification: any client may call it."""
