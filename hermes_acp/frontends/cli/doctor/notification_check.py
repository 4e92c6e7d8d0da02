"""Check notification targets and undelivered notifications, without sending anything."""

from hermes_acp.config.environment import Environment
from hermes_acp.frontends.cli.doctor.doctor_findings import Level
from hermes_acp.frontends.cli.messages import notification_messages


def check_notifications(environment: Environment) -> list[tuple[Level, str]]:
    """Return findings as pairs of level and text; none if there are no targets. Blocks."""
    from hermes_acp.config.settings import load_settings, load_variables
    from hermes_acp.core.errors import ConfigError, StorageError
    from hermes_acp.notifications.delivery_ledger import DeliveryLedger
    from hermes_acp.notifications.notification_plan import faults_of

    try:
        settings = load_settings(environment)
        number = len(settings.notifications.targets)
        faults = faults_of(settings, load_variables(environment)) if number else {}
    except ConfigError:
        return []  # another check reports unreadable settings
    findings: list[tuple[Level, str]] = [
        ("problem", notification_messages.faulty_target(name, fault)) for name, fault in faults.items()
    ]
    try:
        failed = sum(each.state == "failed" for each in DeliveryLedger(environment.home).deliveries())
    except StorageError as error:
        return [*findings, ("problem", error.sentence())]
    if failed:
        findings.append(("note", notification_messages.undelivered(failed)))
    if number and not findings:
        findings.append(("fine", notification_messages.targets_ready(number)))
    return findings
