"""_hermes/schedules/list: the schedules, each with its whole prompt."""

from anyio.to_thread import run_sync

from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.schedule_ports import ScheduleView
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.translation.timestamps import iso_time
from hermes_protocol import own


async def list_schedules(
    client: ClientConnection, params: own.SchedulesListParams
) -> own.SchedulesListResult:
    """List schedules, and say whether any process would start their runs. Raises StorageError."""
    from hermes_acp.runs.schedule_times import local_zone

    engine = client.app.run_service.engine
    views = await engine.schedules.list()
    return own.SchedulesListResult(
        schedules=[await _entry(client, view) for view in views],
        is_driven=await engine.has_worker(),
        tz=await run_sync(local_zone),
    )


async def _entry(client: ClientConnection, view: ScheduleView) -> own.SchedulesListSchedule:
    from hermes_acp.runs.agent_schedules import describe_timing

    schedule = view.schedule
    try:
        prompt = await client.app.run_service.prompt_by_name(schedule.template.prompt_ref)
    except StorageError:
        prompt = ""
    is_due = view.next_at is not None and not view.is_paused
    return own.SchedulesListSchedule(
        id=schedule.id,
        when=describe_timing(schedule.timing),
        cron=schedule.timing.cron,
        at=iso_time(schedule.timing.at) if schedule.timing.at else "",
        tz=schedule.timing.tz,
        prompt=prompt,
        cwd=schedule.template.cwd,
        late=schedule.late,
        late_within_s=schedule.late_within_s,
        overlap=schedule.overlap,
        is_paused=view.is_paused,
        next_at=iso_time(view.next_at or 0.0) if is_due else "",
        origin=schedule.origin,
        max_cost_usd=schedule.template.budget.max_cost_usd,
    )


EXTENSION = Method(own.SchedulesListParams, list_schedules, access="any")
