"""Read the notification targets from a home folder's settings and secrets."""

from collections.abc import Mapping

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.notification_settings import address_variable
from hermes_acp.config.settings import Settings, load_settings, load_variables
from hermes_acp.core.ports.notification_ports import Destination
from hermes_acp.notifications.notification_service import NotificationPlan, NotificationTarget, sender_of
from hermes_acp.telemetry.redaction import Redactor, secrets_among


def read_plan(environment: Environment) -> NotificationPlan:
    """Read the targets, and the secrets to mask. Blocks. Raises ConfigError."""
    settings = load_settings(environment)
    variables = load_variables(environment)
    targets = [
        NotificationTarget(
            name,
            target.service,
            Destination(environment.home, variables.get(address_variable(name), ""), target.to or ""),
            frozenset((*(settings.notifications.events if target.events is None else target.events), "test")),
        )
        for name, target in settings.notifications.targets.items()
    ]
    return NotificationPlan(targets, Redactor(secrets_among(variables)).clean)


def faults_of(settings: Settings, variables: Mapping[str, str]) -> dict[str, str]:
    """Return why each unusable target cannot be used, by name. Blocks; sends nothing."""
    faults: dict[str, str] = {}
    for name, target in settings.notifications.targets.items():
        sender = sender_of(target.service)
        address = variables.get(address_variable(name), "")
        if sender.needs_address and not address:
            faults[name] = f"Its address is missing: set {address_variable(name)} in .env."
        elif fault := sender.fault(address):
            faults[name] = fault
    return faults
