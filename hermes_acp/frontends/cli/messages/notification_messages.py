"""Messages of `hermes-acp notifications`."""

from typing import Final

from hermes_acp.frontends.cli.messages.word_forms import counted

LIST_HELP: Final = "list the targets and the latest notifications (the default)"
TEST_HELP: Final = "send a test to one target, or to all"
TARGET_HELP: Final = "the name of the target in `notifications.targets` (default: all)"
RETRY_HELP: Final = "resend notifications that failed or are waiting for their next attempt"
ID_HELP: Final = "the ID of the notification (default: all)"
NO_TARGETS: Final = "No notification targets are configured."
NO_TARGETS_HINT: Final = "Add one to `notifications.targets` in config.yaml; docs/notifications.md shows how."
NOTHING_SENT: Final = "No notifications yet."
NOTHING_TO_RETRY: Final = "Nothing has failed, and nothing is waiting."
UNKNOWN_HINT: Final = "`hermes-acp notifications list --json` shows their IDs."
READY: Final = "ready"
IN_DOUBT: Final = "may have arrived twice"


def target(name: str, service: str, state: str) -> str:
    """Describe a target in one line."""
    return f"{name} ({service}): {state}"


def unknown_target(name: str) -> str:
    """Return the error for a target that is not configured."""
    return f"There is no target {name!r}."


def unknown(notification_id: str) -> str:
    """Return the error for a notification that is not in the ledger."""
    return f"There is no notification {notification_id!r}."


def delivery(when: str, target: str, state: str, title: str) -> str:
    """Describe a notification in one line."""
    return f"{when}  {target}  {state}  {title}"


def attempts(number: int, error: str) -> str:
    """Say how often a notification was tried, and why it did not arrive."""
    return f"  {counted(number, 'attempt')}. {error}"


def retried(number: int) -> str:
    """Say how many notifications are being resent."""
    return f"{counted(number, 'notification')} being resent:"


def faulty_target(name: str, fault: str) -> str:
    """Return the doctor's finding about an unusable target."""
    return f"The notification target {name} cannot be used. {fault}"


def undelivered(number: int) -> str:
    """Return the doctor's finding about notifications that failed."""
    were = "was" if number == 1 else "were"
    return (
        f"{counted(number, 'notification')} {were} not delivered. `hermes-acp notifications list` shows why."
    )


def targets_ready(number: int) -> str:
    """Return the doctor's finding that all targets can be used."""
    return f"{counted(number, 'notification target')} can be used."
