"""What a session's user can choose, as pickers and switches.

Knows: which options there are, what values each takes, how one is set. Does not know: what they do, or any version's
shape of them. The mode is among them, since some editors build everything they show from this list alone; `auto` is no
offered mode: it belongs to runs inside a container.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.events import Mode
from hermes_acp.core.record import Record

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

MODE = "mode"
MODEL = "model"
DURING_TURN = "during_turn"
SHOWS_THOUGHTS = "shows_thoughts"


class Choice(Struct, frozen=True):
    """One value of a picker."""

    value: str
    name: str
    description: str = ""


class Picker(Struct, frozen=True):
    """An option with one of several values."""

    id: str
    name: str
    current: str
    choices: tuple[Choice, ...]
    category: Literal["mode", "model", ""] = ""


class Switch(Struct, frozen=True):
    """An option that is on or off."""

    id: str
    name: str
    is_on: bool


OFFERED_MODES: Final[Mapping[Mode, Choice]] = MappingProxyType(
    {
        "ask": Choice("ask", "Ask", "Asks before each edit and each command."),
        "accept_edits": Choice(
            "accept_edits", "Accept edits", "Edits files in the workspace; asks before commands."
        ),
        "plan": Choice("plan", "Plan", "Reads and plans; changes nothing."),
    }
)
DURING_TURN_CHOICES: Final = (
    Choice("queue", "Queue", "A message sent while the agent works is answered after the running turn."),
    Choice("steer", "Steer", "A message sent while the agent works reaches it at its next step."),
)


def options_of(record: Record, models: Sequence[str]) -> tuple[Picker | Switch, ...]:
    """List every option with its present value. `models` has the configured one first; empty while not known."""
    options = record.options
    mode = Picker(MODE, "Mode", record.mode, tuple(OFFERED_MODES.values()), "mode")
    during_turn = Picker(DURING_TURN, "Messages while working", options.during_turn, DURING_TURN_CHOICES)
    model = (_model(options.model or models[0], models),) if models else ()
    return (mode, *model, during_turn, Switch(SHOWS_THOUGHTS, "Show thoughts", options.shows_thoughts))


def _model(current: str, models: Sequence[str]) -> Picker:
    names = models if current in models else (*models, current)
    return Picker(MODEL, "Model", current, tuple(Choice(name, name) for name in names), "model")


def offered_mode(mode_id: str) -> Mode | None:
    """Give the mode of an id; None for one that is not offered."""
    return next((mode for mode in OFFERED_MODES if mode == mode_id), None)


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
