"""_hermes/usage/list: the usage of sessions, in total and by day."""

from datetime import datetime, timedelta
from typing import Final

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.session_setup.session_pages import page_of
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_acp.storage.daily_usage import DayUsage, sum_of
from hermes_acp.storage.session_rows import SessionRow
from hermes_protocol import own

MAX_DAYS: Final = 400
MAX_SESSIONS: Final = 1000


async def list_usage(client: ClientConnection, params: own.UsageListParams) -> own.UsageListResult:
    """Read the records of the sessions that changed in these days. Raise StorageError."""
    wanted = max(1, min(params.days, MAX_DAYS))
    now = client.app.run_service.now()
    first_day = (datetime.fromtimestamp(now).astimezone() - timedelta(days=wanted - 1)).strftime("%Y-%m-%d")
    rows, is_whole = await _changed_since(client, now - wanted * 86_400)
    used = await client.app.session_admin.usage_by_day([row.id for row in rows])
    by_session = {
        session_id: [day for day in days if not day.day or day.day >= first_day]
        for session_id, days in used.items()
    }
    days: dict[str, list[DayUsage]] = {}
    for each in by_session.values():
        for day in each:
            days.setdefault(day.day, []).append(day)
    return own.UsageListResult(
        sessions=[_session(row, by_session[row.id]) for row in rows if by_session.get(row.id)],
        days=[_day(sum_of(name, days[name])) for name in sorted(days, reverse=True)],
        is_whole=is_whole,
    )


async def _changed_since(client: ClientConnection, since: float) -> tuple[list[SessionRow], bool]:
    rows: list[SessionRow] = []
    cursor: str | None = None
    while len(rows) < MAX_SESSIONS:
        page, cursor = await page_of(client, None, cursor, "include")
        rows += [row for row in page if row.updated_at >= since]
        if cursor is None or page[-1].updated_at < since:
            return rows, True
    return rows[:MAX_SESSIONS], False


def _session(row: SessionRow, days: list[DayUsage]) -> own.UsageListSession:
    used = sum_of("", days)
    return own.UsageListSession(
        session_id=row.id,
        title=row.title,
        cwd=row.cwd,
        updated_at=iso_time(row.updated_at),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
    )


def _day(used: DayUsage) -> own.UsageListDay:
    return own.UsageListDay(
        day=used.day,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost_usd=used.cost_usd,
    )


EXTENSION = Method(own.UsageListParams, list_usage, access="any")
