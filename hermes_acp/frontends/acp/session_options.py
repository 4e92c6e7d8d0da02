"""What a session's user can choose, as pickers and switches.

Knows: which options there are, what values each takes, how one is set. Does not know: what they do, or any version's
shape of them. The mode is among them, since some editors build everything they show from this list alone; `bypass` is
offered only where the user said so when they started the process, or in their settings.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal

from msgspec import Struct, structs

from hermes_acp.core.available_options import AvailableModel, AvailableOptions, chosen_model
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Mode, Options
from hermes_acp.core.messages import Effort
from hermes_acp.core.record.session_record import Record

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session

MODE = "mode"
MODEL = "model"
PROVIDER = "provider"
EFFORT = "effort"
DURING_TURN = "during_turn"
SHOWS_THOUGHTS = "shows_thoughts"
BACKEND = "backend"
ALL_OPTIONS: Final = frozenset({MODE, MODEL, PROVIDER, EFFORT, DURING_TURN, SHOWS_THOUGHTS, BACKEND})
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


MODES: Final[Mapping[Mode, Choice]] = MappingProxyType(
    {
        "ask": Choice("ask", "Ask", "Asks before each edit, and each command that may change something."),
        "accept_edits": Choice(
            "accept_edits", "Accept edits", "Edits files in the workspace; asks before commands."
        ),
        "plan": Choice("plan", "Plan", "Reads and plans; changes nothing."),
        "auto": Choice(
            "auto",
            "Auto",
            "Works on its own inside the sandbox; asks about what has to leave it, and about secrets.",
        ),
        "bypass": Choice(
            "bypass", "Bypass", "Asks about nothing, sandbox or not. Only for machines that may be lost."
        ),
    }
)
BACKENDS: Final[Mapping[str, Choice]] = MappingProxyType(
    {
        "local": Choice("local", "This machine"),
        "docker": Choice(
            "docker", "Container", "Commands run in a container; the folders are mounted there."
        ),
        "singularity": Choice("singularity", "Apptainer", "Commands run in an instance of apptainer."),
        "ssh": Choice("ssh", "Another machine", "Commands and files are on the machine that ssh reaches."),
        "modal": Choice("modal", "Modal", "Commands and files are in a sandbox at Modal."),
        "daytona": Choice("daytona", "Daytona", "Commands and files are in a sandbox at Daytona."),
        "vercel": Choice("vercel", "Vercel", "Commands and files are in a sandbox at Vercel."),
    }
)
DURING_TURN_CHOICES: Final = (
    Choice("queue", "Queue", "A message sent while the agent works is answered after the running turn."),
    Choice("steer", "Steer", "A message sent while the agent works reaches it at its next step."),
)


DEFAULT_EFFORT: Final = "default"
EFFORTS: Final[Mapping[Effort, Choice]] = MappingProxyType(
    {
        "none": Choice("none", "Off", "No reasoning before the answer."),
        "minimal": Choice("minimal", "Minimal"),
        "low": Choice("low", "Low"),
        "medium": Choice("medium", "Medium"),
        "high": Choice("high", "High"),
        "xhigh": Choice("xhigh", "Extra high"),
        "max": Choice("max", "Maximum"),
    }
)
COMMON_EFFORTS: Final[tuple[Effort, ...]] = ("low", "medium", "high", "xhigh", "max")
"""The levels that are offered whatever the model has; it does with the nearest it has."""


def efforts_offered(offer: AvailableModel, current: Effort | None) -> tuple[Choice, ...]:
    """List the levels of reasoning to choose from: without any only where the model can do without."""
    vendors = Choice(DEFAULT_EFFORT, "Default", "As much as the model's vendor set.")
    levels = (
        choice
        for level, choice in EFFORTS.items()
        if level in COMMON_EFFORTS or level in offer.efforts or level == current
    )
    return (vendors, *levels)


def modes_offered(*, allows_bypass: bool) -> tuple[Choice, ...]:
    """List the modes a user can choose."""
    return tuple(choice for mode, choice in MODES.items() if allows_bypass or mode != "bypass")


def options_of(record: Record, offers: AvailableOptions) -> tuple[Picker | Switch, ...]:
    """List every option with its present value."""
    options = record.options
    mode = Picker(MODE, "Mode", record.mode, modes_offered(allows_bypass=offers.allows_bypass), "mode")
    during_turn = Picker(DURING_TURN, "Messages while working", options.during_turn, DURING_TURN_CHOICES)
    thoughts = Switch(SHOWS_THOUGHTS, "Show thoughts", options.shows_thoughts)
    return (
        mode,
        *_model_pickers(options, offers.models),
        *_backend_pickers(options, offers.backends),
        during_turn,
        thoughts,
    )


def _backend_pickers(options: Options, backends: Sequence[str]) -> tuple[Picker, ...]:
    """Return the picker of the backend, where there are several."""
    if len(backends) < 2:
        return ()
    current = options.backend or backends[0]
    choices = tuple(BACKENDS[name] for name in dict.fromkeys((*backends, current)) if name in BACKENDS)
    return (Picker(BACKEND, "Runs on", current, choices),)


def _model_pickers(options: Options, models: Sequence[AvailableModel]) -> tuple[Picker, ...]:
    """Return the pickers about the model; that of the provider only where there are several."""
    current = chosen_model(options, models)
    if current is None:
        return ()
    offers = models if current in models else (*models, current)
    choices = tuple(
        Choice(_value(offer, models), offer.model, f"At {offer.provider}" if _are_several(models) else "")
        for offer in offers
    )
    model = Picker(MODEL, "Model", _value(current, models), choices, "model")
    levels = efforts_offered(current, options.effort)
    effort = Picker(EFFORT, "Reasoning effort", options.effort or DEFAULT_EFFORT, levels, "thought_level")
    if not _are_several(models):
        return (model, effort)
    names = tuple(Choice(name, name) for name in dict.fromkeys(offer.provider for offer in models))
    return (Picker(PROVIDER, "Provider", current.provider, names), model, effort)


def _are_several(models: Sequence[AvailableModel]) -> bool:
    return len({offer.provider for offer in models}) > 1


def _value(offer: AvailableModel, models: Sequence[AvailableModel]) -> str:
    """Name an offer: by its model, and where there are several providers by its provider before that."""
    return f"{offer.provider}/{offer.model}" if _are_several(models) else offer.model


def _find_offer(value: str, models: Sequence[AvailableModel]) -> AvailableModel | None:
    """Find an offer by its name; a bare model, as editors keep it in their settings, is the first provider's."""
    named = (offer for offer in models if _value(offer, models) == value)
    bare = (offer for offer in models if offer.model == value and offer.provider == models[0].provider)
    return next(named, None) or next(bare, None)


def offered_mode(mode_id: str, *, allows_bypass: bool) -> Mode | None:
    """Return the mode of an id; None for one that is not offered."""
    return next((mode for mode in MODES if mode == mode_id and (allows_bypass or mode != "bypass")), None)


def set_option(session: "Session", option: str, value: str | bool) -> None:
    """Give an option another value. Raises BadRequest for an option or a value there is not."""
    options = session.record.options
    if option not in ALL_OPTIONS:
        offered = ", ".join(each.id for each in options_of(session.record, session.offers))
        raise BadRequest(f"There is no option {option[:80]!r}.", hint=f"The options are: {offered}.")
    if option == SHOWS_THOUGHTS and isinstance(value, bool):
        session.set_options(structs.replace(options, shows_thoughts=value))
        return
    if not isinstance(value, str):
        raise BadRequest(f"The option {option[:80]!r} takes no yes or no.")
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
    else:
        raise BadRequest(f"The option {option[:80]!r} has no value {value[:80]!r}.")
