"""A session's options as an editor's pickers.

Knows: which options there are, what values each takes, which of them a client can show. Does not know: what they do.
The mode is among them, since some editors build everything they show from this list alone.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.record import Record
from hermes_acp.faces.acp.v1.modes import OFFERED_MODES, offered_mode
from hermes_protocol import v1

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

MODE = "mode"
MODEL = "model"
DURING_TURN = "during_turn"
SHOWS_THOUGHTS = "shows_thoughts"
DURING_TURN_CHOICES = (
    ("queue", "Queue", "A message sent while the agent works is answered after the running turn."),
    ("steer", "Steer", "A message sent while the agent works reaches it at its next step."),
)


def config_options(
    record: Record, models: Sequence[str], capabilities: v1.ClientCapabilities
) -> list[v1.SessionConfigOption]:
    """List every option with its present value. `models` has the configured one first; empty while not known."""
    options: list[v1.SessionConfigOption] = [_mode(record), _during_turn(record)]
    if models:
        options.insert(1, _model(record, models))
    if _takes_booleans(capabilities):
        options.append(
            v1.SessionConfigOptionBoolean(
                id=SHOWS_THOUGHTS, name="Show thoughts", current_value=record.options.shows_thoughts
            )
        )
    return options


def set_option(session: "Session", option: str, value: str | bool) -> None:
    """Give an option another value. Raises BadRequest for an option or a value there is not."""
    options = session.record.options
    if option == SHOWS_THOUGHTS and isinstance(value, bool):
        session.set_options(structs.replace(options, shows_thoughts=value))
        return
    if not isinstance(value, str):
        raise BadRequest(f"The option {option[:80]!r} takes no yes or no.")
    if option == MODE and (mode := offered_mode(value)):
        session.set_mode(mode)
    elif option == MODEL and value in session.models:
        session.set_options(structs.replace(options, model=value))
    elif option == DURING_TURN and value in ("queue", "steer"):
        session.set_options(structs.replace(options, during_turn=value))
    else:
        raise BadRequest(f"The option {option[:80]!r} has no value {value[:80]!r}.")


def _takes_booleans(capabilities: v1.ClientCapabilities) -> bool:
    announced = capabilities.session and capabilities.session.config_options
    return bool(announced and announced.boolean)


def _mode(record: Record) -> v1.SessionConfigOptionSelect:
    choices = [
        v1.SessionConfigSelectOption(value=mode.id, name=mode.name, description=mode.description)
        for mode in OFFERED_MODES.values()
    ]
    return v1.SessionConfigOptionSelect(
        id=MODE, name="Mode", category="mode", current_value=record.mode, options=choices
    )


def _model(record: Record, models: Sequence[str]) -> v1.SessionConfigOptionSelect:
    current = record.options.model or models[0]
    names = models if current in models else (*models, current)
    return v1.SessionConfigOptionSelect(
        id=MODEL,
        name="Model",
        category="model",
        current_value=current,
        options=[v1.SessionConfigSelectOption(value=name, name=name) for name in names],
    )


def _during_turn(record: Record) -> v1.SessionConfigOptionSelect:
    return v1.SessionConfigOptionSelect(
        id=DURING_TURN,
        name="Messages while working",
        current_value=record.options.during_turn,
        options=[
            v1.SessionConfigSelectOption(value=value, name=name, description=description)
            for value, name, description in DURING_TURN_CHOICES
        ],
    )
