"""Convert a session's options to the wire types of version 1."""

from hermes_acp.core.available_options import AvailableOptions
from hermes_acp.core.record.session_record import Record
from hermes_acp.frontends.acp.session_setup.session_options import Choice, Picker, Switch, options_of
from hermes_protocol import v1


def config_options(
    record: Record, offers: AvailableOptions, capabilities: v1.ClientCapabilities
) -> list[v1.SessionConfigOption]:
    """List every option with its current value, in a form that a client with these capabilities can show."""
    options = options_of(record, offers)
    takes_booleans = _takes_booleans(capabilities)
    return [_shown(option) for option in options if takes_booleans or not isinstance(option, Switch)]


def _takes_booleans(capabilities: v1.ClientCapabilities) -> bool:
    announced = capabilities.session and capabilities.session.config_options
    return bool(announced and announced.boolean)


def _shown(option: Picker | Switch) -> v1.SessionConfigOption:
    if isinstance(option, Switch):
        return v1.SessionConfigOptionBoolean(id=option.id, name=option.name, current_value=option.is_on)
    return v1.SessionConfigOptionSelect(
        id=option.id,
        name=option.name,
        category=option.category or v1.UNSET,
        current_value=option.current,
        options=[_value(choice) for choice in option.choices],
    )


def _value(choice: Choice) -> v1.SessionConfigSelectOption:
    description = choice.description or v1.UNSET
    return v1.SessionConfigSelectOption(value=choice.value, name=choice.name, description=description)
