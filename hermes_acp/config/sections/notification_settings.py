"""`notifications:` in a settings file. Addresses are secrets and belong in `.env`."""

from typing import Annotated, Final, Literal, Self, cast

from pydantic import AfterValidator, Field, StringConstraints, field_validator, model_validator

from hermes_acp.config.settings_section import Section
from hermes_acp.core.plugins import PluginFolder

NotificationEvent = Literal["input_required", "failed", "done"]
GATEWAY: Final = "gateway"
GATEWAY_PLACE: Final = r"[A-Za-z0-9_-]{1,32}|[a-z]+:\S+"
SERVICES: Final = "hermes_acp.notifications.services"
ADDRESS_PREFIX: Final = "HERMES_NOTIFY_"
TargetName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,31}$")]


def _known(name: str) -> str:
    known = PluginFolder[object](SERVICES, "SERVICE").names()
    if name not in known:
        raise ValueError(f"must be one of {', '.join(known)}")
    return name


class NotificationTargetSettings(Section):
    """A place to notify. `apprise` sends to the URL in the variable `HERMES_NOTIFY_NAME`, with the target's name."""

    service: Annotated[str, AfterValidator(_known)]
    """How it is delivered: `apprise` (mail, chats, phones), `desktop` or `gateway`."""
    to: Annotated[str, Field(pattern=rf"^(?:{GATEWAY_PLACE})$")] | None = None
    """For `gateway`: the name of a person it has admitted, or a room of its settings, such as `matrix:!id:server`."""
    events: tuple[NotificationEvent, ...] | None = None
    """What is reported there. Default: `notifications.events`."""

    @model_validator(mode="after")
    def _check_to(self) -> Self:
        if (self.service == GATEWAY) is not bool(self.to):
            raise ValueError("to is required for the service gateway, and only there")
        return self


class NotificationSettings(Section):
    """Where to report what happened while no client was attached."""

    events: tuple[NotificationEvent, ...] = ("input_required", "failed", "done")
    """What is reported: `input_required` (a question waits), `failed`, `done`."""
    targets: dict[TargetName, NotificationTargetSettings] = Field(
        default_factory=dict[TargetName, NotificationTargetSettings]
    )
    """Places to notify, by name: a service, or its settings."""

    @field_validator("targets", mode="before")
    @classmethod
    def _takes_services(cls, written: object) -> object:
        if not isinstance(written, dict):
            return written
        targets = cast("dict[object, object]", written)
        return {name: {"service": each} if isinstance(each, str) else each for name, each in targets.items()}


class ReportSettings(Section):
    """The events to report to people who are not at a client."""

    notifications: NotificationSettings = NotificationSettings.defaults()


def address_variable(target: str) -> str:
    """Return the name of the variable that contains a target's address."""
    return f"{ADDRESS_PREFIX}{target.upper()}"
