"""The options of a session, represented as pickers and switches.

The mode is one of them, because some editors show only this list. `bypass` is offered only if the user has allowed it
with a flag or in their settings.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, structs

from hermes_acp.core.available_options import AvailableModel, AvailableOptions, chosen_model
from hermes_acp.core.errors import BadRequest, ModelError
from hermes_acp.core.event_types import Mode, Options
from hermes_acp.core.messages import Effort
from hermes_acp.core.record.session_record import Record
from hermes_acp.frontends.acp.messages import choices, errors

if TYPE_CHECKING:
    from hermes_acp.agent.setup.configuration import Configuration
    from hermes_acp.sessions.session import Session

MODE = "mode"
MODEL = "model"
PROVIDER = "provider"
EFFORT = "effort"
DURING_TURN = "during_turn"
SHOWS_THOUGHTS = "shows_thoughts"
BACKEND = "backend"
MAX_LISTED_MODELS: Final = 30
ALL_OPTIONS: Final = frozenset({MODE, MODEL, PROVIDER, EFFORT, DURING_TURN, SHOWS_THOUGHTS, BACKEND})
"""The IDs of all options, including those of models, which can be set before their choices are known."""


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


MODES: Final[Mapping[Mode, Choice]] = MappingProxyType(
    {mode: Choice(mode, *choices.MODES[mode]) for mode in ("ask", "accept_edits", "plan", "auto", "bypass")}
)
BACKENDS: Final[Mapping[str, Choice]] = MappingProxyType(
    {backend: Choice(backend, *label) for backend, label in choices.BACKENDS.items()}
)
DURING_TURN_CHOICES: Final = tuple(Choice(value, *label) for value, label in choices.DURING_TURN.items())
DEFAULT_EFFORT: Final = "default"
ALL_EFFORTS: Final[tuple[Effort, ...]] = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
EFFORTS: Final[Mapping[Effort, Choice]] = MappingProxyType(
    {level: Choice(level, *choices.EFFORTS[level]) for level in ALL_EFFORTS}
)
COMMON_EFFORTS: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
"""The levels that are offered for every model; the closest supported level is used."""


def efforts_offered(offer: AvailableModel, current: Effort | None) -> tuple[Choice, ...]:
    """List the reasoning levels, including "Off" only if the model can switch reasoning off."""
    vendors = Choice(DEFAULT_EFFORT, *choices.DEFAULT_EFFORT)
    levels = (
        choice
        for level, choice in EFFORTS.items()
        if level in COMMON_EFFORTS or level in offer.efforts or level == current
    )
    return (vendors, *levels)


def modes_offered(*, allows_bypass: bool) -> tuple[Choice, ...]:
    """List the modes that a user can choose."""
    return tuple(choice for mode, choice in MODES.items() if allows_bypass or mode != "bypass")


def options_of(record: Record, offers: AvailableOptions) -> tuple[Picker | Switch, ...]:
    """List every option with its current value."""
    options = record.options
    mode = Picker(
        MODE,
        choices.OPTION_NAMES[MODE],
        record.mode,
        modes_offered(allows_bypass=offers.allows_bypass),
        "mode",
    )
    during_turn = Picker(
        DURING_TURN, choices.OPTION_NAMES[DURING_TURN], options.during_turn, DURING_TURN_CHOICES
    )
    thoughts = Switch(SHOWS_THOUGHTS, choices.OPTION_NAMES[SHOWS_THOUGHTS], options.shows_thoughts)
    return (
        mode,
        *_model_pickers(options, offers.models),
        *_backend_pickers(options, offers.backends),
        during_turn,
        thoughts,
    )


def _backend_pickers(options: Options, backends: Sequence[str]) -> tuple[Picker, ...]:
    """Return the backend picker, if there are several backends."""
    if len(backends) < 2:
        return ()
    current = options.backend or backends[0]
    backends_offered = tuple(
        BACKENDS[name] for name in dict.fromkeys((*backends, current)) if name in BACKENDS
    )
    return (Picker(BACKEND, choices.OPTION_NAMES[BACKEND], current, backends_offered),)


def _model_pickers(options: Options, models: Sequence[AvailableModel]) -> tuple[Picker, ...]:
    """Return the pickers about models; the provider picker is included only if there are several providers."""
    current = chosen_model(options, models)
    if current is None:
        return ()
    offers = models if current in models else (*models, current)
    models_offered = tuple(
        Choice(
            _value(offer, models),
            offer.model,
            choices.model_provider(offer.provider) if _are_several(models) else "",
        )
        for offer in offers
    )
    model = Picker(MODEL, choices.OPTION_NAMES[MODEL], _value(current, models), models_offered, "model")
    levels = efforts_offered(current, options.effort)
    effort = Picker(
        EFFORT, choices.OPTION_NAMES[EFFORT], options.effort or DEFAULT_EFFORT, levels, "thought_level"
    )
    if not _are_several(models):
        return (model, effort)
    names = tuple(Choice(name, name) for name in dict.fromkeys(offer.provider for offer in models))
    return (Picker(PROVIDER, choices.OPTION_NAMES[PROVIDER], current.provider, names), model, effort)


def _are_several(models: Sequence[AvailableModel]) -> bool:
    return len({offer.provider for offer in models}) > 1


def _value(offer: AvailableModel, models: Sequence[AvailableModel]) -> str:
    """Return the value for an offer: its model, preceded by its provider if there are several."""
    return f"{offer.provider}/{offer.model}" if _are_several(models) else offer.model


def _find_offer(value: str, models: Sequence[AvailableModel]) -> AvailableModel | None:
    """Find an offer; a bare model name, as editors store it in settings, means the first provider with that model."""
    named = (offer for offer in models if _value(offer, models) == value)
    bare = (offer for offer in models if offer.model == value and offer.provider == models[0].provider)
    return next(named, None) or next(bare, None)


def offered_mode(mode_id: str, *, allows_bypass: bool) -> Mode | None:
    """Return the mode with an ID, or None if it is not offered."""
    return next((mode for mode in MODES if mode == mode_id and (allows_bypass or mode != "bypass")), None)


def refused_mode(mode_id: str, *, allows_bypass: bool) -> BadRequest:
    """Return the error for a mode that is not offered; its hint lists the modes, or says what `bypass` needs."""
    if mode_id == "bypass":
        return BadRequest(errors.BYPASS_NOT_ALLOWED, hint=errors.BYPASS_HINT)
    known = ", ".join(mode.value for mode in modes_offered(allows_bypass=allows_bypass))
    return BadRequest(errors.no_mode(mode_id), hint=errors.modes_hint(known))


async def learn_model(configuration: "Configuration", session: "Session", value: str | bool) -> None:
    """Wait for the list of models if the chosen model is not known yet.

    Raises AuthRequired or ConfigError.
    """
    if not isinstance(value, str) or _find_offer(value, session.offers.models):
        return
    with suppress(ModelError):  # if the endpoint lists no models, only the configured ones are known
        await configuration.deps()
        if not _find_offer(value, session.offers.models):
            await configuration.list_models()


def set_option(session: "Session", option: str, value: str | bool) -> None:
    """Set an option. Raises BadRequest for an unknown option or value."""
    options = session.record.options
    if option not in ALL_OPTIONS:
        offered = ", ".join(each.id for each in options_of(session.record, session.offers))
        raise BadRequest(errors.no_option(option), hint=errors.options_hint(offered))
    if option == SHOWS_THOUGHTS and isinstance(value, bool):
        session.set_options(structs.replace(options, shows_thoughts=value))
        return
    if not isinstance(value, str):
        raise BadRequest(errors.not_a_switch(option))
    if option == MODE and (mode := offered_mode(value, allows_bypass=session.offers.allows_bypass)):
        session.set_mode(mode)
    elif option == MODEL and (offer := _find_offer(value, session.offers.models)):
        session.set_options(structs.replace(options, provider=offer.provider, model=offer.model))
    elif option == PROVIDER and any(offer.provider == value for offer in session.offers.models):
        session.set_options(structs.replace(options, provider=value, model=""))
    elif option == EFFORT and (value == DEFAULT_EFFORT or value in EFFORTS):
        effort = next((level for level in EFFORTS if level == value), None)
        session.set_options(structs.replace(options, effort=effort))
    elif option == BACKEND and value in session.offers.backends:
        session.set_options(structs.replace(options, backend=value))
    elif option == DURING_TURN and value in ("queue", "steer"):
        session.set_options(structs.replace(options, during_turn=value))
    elif option == MODEL:
        models = session.offers.models
        offered = ", ".join(_value(offer, models) for offer in models[:MAX_LISTED_MODELS])
        raise BadRequest(errors.no_model(value), hint=errors.models_hint(offered, len(models)))
    elif option == MODE:
        raise refused_mode(value, allows_bypass=session.offers.allows_bypass)
    else:
        raise BadRequest(errors.no_option_value(option, value))
