"""Convert a session's options to the wire types of version 2."""

from hermes_acp.frontends.acp.session_setup.session_options import Choice, Picker, Switch, options_of
from hermes_acp.sessions.session import Session
from hermes_protocol import v2


def config_options(session: Session) -> list[v2.SessionConfigOption]:
    """List every option with its current value."""
    return [_shown(option) for option in options_of(session.record, session.offers)]


def _shown(option: Picker | Switch) -> v2.SessionConfigOption:
    if isinstance(option, Switch):
        return v2.SessionConfigOptionBoolean(
            config_id=option.id, name=option.name, current_value=option.is_on
        )
    return v2.SessionConfigOptionSelect(
        config_id=option.id,
        name=option.name,
        category=option.category or v2.UNSET,
        current_value=option.current,
        options=[_value(choice) for choice in option.choices],
    )


def _value(choice: Choice) -> v2.SessionConfigSelectOption:
    description = choice.description or v2.UNSET
    return v2.SessionConfigSelectOption(value=choice.value, name=choice.name, description=description)
