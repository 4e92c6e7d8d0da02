"""The `hermes-acp schedule` command: start runs at certain times."""

import argparse
import re
import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final
from zoneinfo import ZoneInfo

import anyio
import msgspec

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import LatePolicy, Occurrence, ScheduleView, Timing
from hermes_acp.frontends.cli.cli_output import escaped, exact_time, local_time, note, print_json
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import command_messages, schedule_messages
from hermes_acp.frontends.cli.runs.run_requests import add_wishes, deliver_to, prompt_of, request_of
from hermes_acp.frontends.cli.runs.stored_runs import stored_runs

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunService

SPAN: Final = re.compile(r"(\d+(?:\.\d+)?)([smhd])")
SECONDS: Final = MappingProxyType({"s": 1, "m": 60, "h": 3600, "d": 86400})
CLOCK: Final = re.compile(r"\d{1,2}:\d{2}")


def add_schedule(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands to the parser."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION")
    parser.set_defaults(action="list", json=False)
    add = actions.add_parser("add", help=schedule_messages.ADD_HELP)
    add.add_argument("cron", nargs="?", default="", metavar="CRON", help=schedule_messages.CRON_HELP)
    add.add_argument("--at", default="", metavar="TIME", help=schedule_messages.AT_HELP)
    add.add_argument("--tz", default="", metavar="ZONE", help=schedule_messages.TZ_HELP)
    add.add_argument("--name", default="", help=schedule_messages.NEW_NAME_HELP)
    add.add_argument("--late", default="once", metavar="once|skip|SPAN", help=schedule_messages.LATE_HELP)
    add.add_argument(
        "--overlap", choices=("skip", "queue", "cancel"), default="skip", help=schedule_messages.OVERLAP_HELP
    )
    add_wishes(add)
    listing = actions.add_parser("list", help=schedule_messages.LIST_HELP)
    history = actions.add_parser("history", help=schedule_messages.HISTORY_HELP)
    history.add_argument(
        "--limit", type=positive_number(int), default=50, metavar="N", help=schedule_messages.LIMIT_HELP
    )
    named = [history]
    for name, about in (
        ("pause", schedule_messages.PAUSE_HELP),
        ("resume", schedule_messages.RESUME_HELP),
        ("remove", schedule_messages.REMOVE_HELP),
        ("run-now", schedule_messages.RUN_NOW_HELP),
    ):
        named.append(actions.add_parser(name, help=about))
    for action in named:
        action.add_argument("name", metavar="NAME", help=schedule_messages.NAME_HELP)
    for action in (add, listing, history):
        action.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)


def run_schedule(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises BadRequest or StorageError."""
    return anyio.run(_act, options, read_environment())


async def _act(options: argparse.Namespace, environment: Environment) -> int:
    service = stored_runs(environment)
    schedules = service.engine.schedules
    try:
        match options.action:
            case "add":
                await _add(service, environment, options)
            case "list":
                await _print_list(service, as_json=options.json)
            case "history":
                if await schedules.show(options.name) is None:
                    raise BadRequest(
                        schedule_messages.unknown(options.name), hint=schedule_messages.LIST_HINT
                    )
                _print_history(await schedules.history(options.name, options.limit), as_json=options.json)
            case "remove":
                await schedules.remove(options.name)
                print(schedule_messages.removed(options.name))
            case "run-now":
                run = await schedules.run_now(options.name)
                print(run.order.id)
            case "pause":
                view = await schedules.pause(options.name)
                print(schedule_messages.changed(options.name, _state_of(view)))
            case _:
                view = await schedules.resume(options.name)
                print(schedule_messages.changed(options.name, _state_of(view)))
        if options.action in ("add", "run-now", "resume") and not await service.engine.has_worker():
            note(schedule_messages.NOBODY_STARTS)
        return 0
    finally:
        await service.aclose()


async def _add(service: "RunService", environment: Environment, options: argparse.Namespace) -> None:
    if bool(options.cron) == bool(options.at):
        wrong = schedule_messages.TWO_TIMES if options.cron else schedule_messages.NO_TIME
        raise BadRequest(wrong, hint=schedule_messages.TIME_HINT)
    from hermes_acp.runs.schedule_times import local_zone

    tz = options.tz or local_zone()
    timing = Timing(options.cron, _moment_of(options.at, tz) if options.at else 0.0, tz)
    late, within_s = late_policy(options.late)
    view = await service.add_schedule(
        request_of(options, prompt_of(options, [])),
        timing,
        name=options.name,
        late=(late, within_s),
        overlap=options.overlap,
    )
    if options.deliver:
        from hermes_acp.runs.tables.schedule_tables import origin_of

        await deliver_to(options, environment, service, origin_of(view.schedule.id))
    if options.json:
        print_json(_document(view))
    else:
        print(schedule_messages.added(view.schedule.id, when_of(view), local_time(view.next_at or 0.0)))


def late_policy(text: str) -> tuple[LatePolicy, float]:
    """Parse the policy for late runs, a keyword or a duration. Raises BadRequest."""
    if text == "once":
        return "once", 0.0
    if text == "skip":
        return "skip", 0.0
    return "within", span_s(text.removeprefix("within").strip())


def span_s(text: str) -> float:
    """Parse a duration such as `2h`; return it in seconds. Raises BadRequest."""
    found = SPAN.fullmatch(text)
    if not found:
        raise BadRequest(schedule_messages.bad_span(text), hint=schedule_messages.SPAN_HINT)
    return float(found[1]) * SECONDS[found[2]]


def _moment_of(text: str, tz: str) -> float:
    """Parse a time; return it in seconds since the epoch. Raises BadRequest."""
    zone = _zone(tz)
    now = datetime.now(zone)
    if text.startswith("+"):
        return now.timestamp() + span_s(text[1:])
    try:
        if CLOCK.fullmatch(text):
            hour, _, minute = text.partition(":")
            today = now.replace(hour=int(hour), minute=int(minute), second=0, microsecond=0)
            return (today if today > now else today + timedelta(days=1)).timestamp()
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise BadRequest(schedule_messages.bad_time(text), hint=schedule_messages.AT_HINT) from error
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).timestamp()


def _zone(tz: str) -> ZoneInfo:
    from hermes_acp.runs.schedule_times import check_timing

    check_timing(Timing(at=1.0, tz=tz))
    return ZoneInfo(tz)


def when_of(view: ScheduleView) -> str:
    """Describe in words when a schedule is due."""
    from hermes_acp.runs.schedule_times import describe_cron

    timing = view.schedule.timing
    if not timing.cron:
        return schedule_messages.once_at(local_time(timing.at))
    return schedule_messages.in_zone(describe_cron(timing), timing.tz)


def _state_of(view: ScheduleView) -> str:
    if view.is_paused:
        return schedule_messages.PAUSED
    if view.next_at is None:
        return schedule_messages.ENDED
    return schedule_messages.next_time(local_time(view.next_at))


async def _print_list(service: "RunService", *, as_json: bool) -> None:
    views = await service.engine.schedules.list()
    if as_json:
        print_json([_document(view) for view in views])
    elif not views:
        print(schedule_messages.NONE, file=sys.stderr)
    for view in () if as_json else views:
        prompt = " ".join((await service.prompt_by_name(view.schedule.template.prompt_ref)).split())
        print(escaped(f"{view.schedule.id:<16}  {when_of(view)}  {_state_of(view)}  {prompt[:60]}"))


def _print_history(history: Sequence[Occurrence], *, as_json: bool) -> None:
    if as_json:
        print_json([_history_document(each) for each in history])
    elif not history:
        print(schedule_messages.NO_HISTORY, file=sys.stderr)
    for each in () if as_json else history:
        print(
            schedule_messages.occurrence(
                local_time(each.due_at), local_time(each.until), each.count, each.fate, each.run_id
            )
        )


def _document(view: ScheduleView) -> dict[str, Any]:
    document = msgspec.to_builtins(view.schedule)
    next_at = exact_time(view.next_at) if view.next_at else None
    return {**document, "is_paused": view.is_paused, "next_at": next_at, "when": when_of(view)}


def _history_document(each: Occurrence) -> dict[str, Any]:
    times = {name: exact_time(getattr(each, name)) for name in ("due_at", "until", "decided_at")}
    return {**msgspec.to_builtins(each), **times}
