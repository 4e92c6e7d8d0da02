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
from hermes_acp.core.messages import Effort
from hermes_acp.core.offers import ModelOffer, chosen_offer
from hermes_acp.core.record import Record
from hermes_acp.core.terms import Mode, Options

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

MODE = "mode"
MODEL = "model"
PROVIDER = "provider"
EFFORT = "effort"
DURING_TURN = "during_turn"
SHOWS_THOUGHTS = "shows_thoughts"
ALL_OPTIONS: Final = frozenset({MODE, MODEL, PROVIDER, EFFORT, DURING_TURN, SHOWS_THOUGHTS})
"""Those about the model can be set before it is known what there is to choose from."""


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
    category: Literal["mode", "model", "thought_level", ""] = ""


class Switch(Struct, frozen=True):
    """An option that is on or off."""

    id: str
    name: str
    is_on: bool


OFFERED_MODES: Final[Mapping[Mode, Choice]] = MappingProxyType(
    {
        "ask": Choice("ask", "Ask", "Asks before each edit, and each command that may change something."),
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


DEFAULT_EFFORT: Final = "default"
EFFORTS: Final[Mapping[Effort, Choice]] = MappingProxyType(
    {
        "low": Choice("low", "Low"),
        "medium": Choice("medium", "Medium"),
        "high": Choice("high", "High"),
        "xhigh": Choice("xhigh", "Extra high"),
        "max": Choice("max", "Maximum"),
    }
)
EFFORT_CHOICES: Final = (
    Choice(DEFAULT_EFFORT, "Default", "As much as the model's vendor set."),
    *EFFORTS.values(),
)


def options_of(record: Record, models: Sequence[ModelOffer]) -> tuple[Picker | Switch, ...]:
    """List every option with its present value. `models` has the configured one first; empty while not known."""
    options = record.options
    mode = Picker(MODE, "Mode", record.mode, tuple(OFFERED_MODES.values()), "mode")
    during_turn = Picker(DURING_TURN, "Messages while working", options.during_turn, DURING_TURN_CHOICES)
    thoughts = Switch(SHOWS_THOUGHTS, "Show thoughts", options.shows_thoughts)
    return (mode, *_model_pickers(options, models), during_turn, thoughts)


def _model_pickers(options: Options, models: Sequence[ModelOffer]) -> tuple[Picker, ...]:
    """Give the pickers about the model; that of the provider only where there are several."""
    current = chosen_offer(options, models)
    if current is None:
        return ()
    offers = models if current in models else (*models, current)
    choices = tuple(
        Choice(_value(offer, models), offer.model, f"At {offer.provider}" if _are_several(models) else "")
        for offer in offers
    )
    model = Picker(MODEL, "Model", _value(current, models), choices, "model")
    effort = Picker(
        EFFORT, "Reasoning effort", options.effort or DEFAULT_EFFORT, EFFORT_CHOICES, "thought_level"
    )
    if not _are_several(models):
        return (model, effort)
    names = tuple(Choice(name, name) for name in dict.fromkeys(offer.provider for offer in models))
    return (Picker(PROVIDER, "Provider", current.provider, names), model, effort)


def _are_several(models: Sequence[ModelOffer]) -> bool:
    return len({offer.provider for offer in models}) > 1


def _value(offer: ModelOffer, models: Sequence[ModelOffer]) -> str:
    """Name an offer: by its model, and where there are several providers by its provider before that."""
    return f"{offer.provider}/{offer.model}" if _are_several(models) else offer.model


def _find_offer(value: str, models: Sequence[ModelOffer]) -> ModelOffer | None:
    """Find an offer by its name; a bare model, as editors keep it in their settings, is the first provider's."""
    named = (offer for offer in models if _value(offer, models) == value)
    bare = (offer for offer in models if offer.model == value and offer.provider == models[0].provider)
    return next(named, None) or next(bare, None)


def offered_mode(mode_id: str) -> Mode | None:
    """Give the mode of an id; None for one that is not offered."""
    return next((mode for mode in OFFERED_MODES if mode == mode_id), None)


def set_option(session: "Session", option: str, value: str | bool) -> None:
    """Give an option another value. Raises BadRequest for an option or a value there is not."""
    options = session.record.options
    if option not in ALL_OPTIONS:
        offered = ", ".join(each.id for each in options_of(session.record, session.models))
        raise BadRequest(f"There is no option {option[:80]!r}.", hint=f"The options are: {offered}.")
    if option == SHOWS_THOUGHTS and isinstance(value, bool):
        session.set_options(structs.replace(options, shows_thoughts=value))
        return
    if not isinstance(value, str):
        raise BadRequest(f"The option {option[:80]!r} takes no yes or no.")
    if option == MODE and (mode := offered_mode(value)):
        session.set_mode(mode)
    elif option == MODEL and (offer := _find_offer(value, session.models)):
        session.set_options(structs.replace(options, provider=offer.provider, model=offer.model))
    elif option == PROVIDER and any(offer.provider == value for offer in session.models):
        session.set_options(structs.replace(options, provider=value, model=""))
    elif option == EFFORT and (value == DEFAULT_EFFORT or value in EFFORTS):
        effort = next((level for level in EFFORTS if level == value), None)
        session.set_options(structs.replace(options, effort=effort))
    elif option == DURING_TURN and value in ("queue", "steer"):
        session.set_options(structs.replace(options, during_turn=value))
    else:
        raise BadRequest(f"The option {option[:80]!r} has no value {value[:80]!r}.")
