"""The `hermes-acp notifications` command: list targets and deliveries, send a test, resend what failed."""

import argparse
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.notification_ports import Notification
from hermes_acp.frontends.cli.cli_output import bold, escaped, exact_time, local_time, note, print_json
from hermes_acp.frontends.cli.messages import command_messages, notification_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_acp.notifications.delivery_ledger import Delivery
    from hermes_acp.notifications.notification_service import NotificationService

SHOWN = 20


def add_notifications(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    parser.set_defaults(action="list", json=False)
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    listing = actions.add_parser("list", help=notification_messages.LIST_HELP)
    listing.add_argument("--json", action="store_true", help=command_messages.JSON_HELP)
    trial = actions.add_parser("test", help=notification_messages.TEST_HELP)
    trial.add_argument(
        "target", nargs="?", default="", metavar="TARGET", help=notification_messages.TARGET_HELP
    )
    retry = actions.add_parser("retry", help=notification_messages.RETRY_HELP)
    retry.add_argument("id", nargs="?", default="", metavar="ID", help=notification_messages.ID_HELP)


def run_notifications(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code, which is 1 if a notification was not delivered."""
    import anyio

    from hermes_acp.clock import SystemClock
    from hermes_acp.notifications.notification_plan import read_plan
    from hermes_acp.notifications.notification_service import NotificationService

    environment = read_environment()
    service = NotificationService(environment.home, lambda: read_plan(environment), SystemClock())
    if options.action == "test":
        return anyio.run(_test, service, environment, options.target)
    if options.action == "retry":
        return anyio.run(_retry, service, options.id)
    return _list(service, environment, as_json=options.json)


def _list(service: "NotificationService", environment: Environment, *, as_json: bool) -> int:
    targets = _targets(environment)
    deliveries = service.ledger.deliveries()[:SHOWN]
    if as_json:
        described = [
            {"name": name, "service": service_name, "fault": fault} for name, service_name, fault in targets
        ]
        print_json({"targets": described, "notifications": [_entry(each) for each in deliveries]})
        return 0
    if not targets:
        print(f"{notification_messages.NO_TARGETS} {notification_messages.NO_TARGETS_HINT}")
    for name, service_name, fault in targets:
        print(notification_messages.target(bold(name), service_name, fault or notification_messages.READY))
    if not deliveries:
        note(notification_messages.NOTHING_SENT)
    _print(deliveries)
    return 0


def _targets(environment: Environment) -> list[tuple[str, str, str]]:
    """Return each target's name, its service and what is wrong with it, if anything. Raises ConfigError."""
    from hermes_acp.config.settings import load_settings, load_variables
    from hermes_acp.notifications.notification_plan import faults_of

    settings = load_settings(environment)
    faults = faults_of(settings, load_variables(environment))
    return [
        (name, target.service, faults.get(name, ""))
        for name, target in settings.notifications.targets.items()
    ]


async def _test(service: "NotificationService", environment: Environment, target: str) -> int:
    """Send a test notification and show the outcome. Raises BadRequest, ConfigError or StorageError."""
    from hermes_acp.ids import RandomIds
    from hermes_acp.notifications.message_texts import TEST_SUBJECT

    names = [name for name, _, _ in _targets(environment)]
    if target and target not in names:
        raise BadRequest(
            notification_messages.unknown_target(target), hint=notification_messages.NO_TARGETS_HINT
        )
    trial = Notification(RandomIds().fresh("test"), "test", TEST_SUBJECT)
    if not await service.notify(trial, only=target):
        raise BadRequest(notification_messages.NO_TARGETS, hint=notification_messages.NO_TARGETS_HINT)
    while await service.send_due():
        pass
    return _show(service, {trial.id})


async def _retry(service: "NotificationService", notification_id: str) -> int:
    """Resend notifications that did not arrive. Raises BadRequest or StorageError."""
    from anyio import to_thread

    from hermes_acp.clock import SystemClock

    deliveries = service.ledger.deliveries()
    if notification_id and not any(each.id == notification_id for each in deliveries):
        raise BadRequest(
            notification_messages.unknown(notification_id), hint=notification_messages.UNKNOWN_HINT
        )
    waiting = {each.id for each in deliveries if each.state in ("pending", "failed")}
    number = await to_thread.run_sync(service.ledger.retry, SystemClock().now(), notification_id)
    if not number:
        note(notification_messages.NOTHING_TO_RETRY)
        return 0
    print(notification_messages.retried(number))
    while await service.send_due():
        pass
    return _show(service, waiting & ({notification_id} if notification_id else waiting))


def _show(service: "NotificationService", ids: set[str]) -> int:
    tried = [each for each in service.ledger.deliveries() if each.id in ids]
    _print(tried)
    return 0 if all(each.state == "delivered" for each in tried) else 1


def _print(deliveries: "Sequence[Delivery]") -> None:
    for each in deliveries:
        doubt = f", {notification_messages.IN_DOUBT}" if each.is_doubtful else ""
        state = f"{each.state}{doubt}"
        line = notification_messages.delivery(
            local_time(each.updated_at), each.target, state, escaped(each.title)
        )
        print(line)
        if each.error and each.state != "delivered":
            print(notification_messages.attempts(each.attempts, each.error))


def _entry(each: "Delivery") -> dict[str, object]:
    return {
        "id": each.id,
        "target": each.target,
        "kind": each.kind,
        "state": each.state,
        "attempts": each.attempts,
        "may_be_doubled": each.is_doubtful,
        "title": each.title,
        "body": each.body,
        "error": each.error,
        "updated_at": exact_time(each.updated_at),
    }
