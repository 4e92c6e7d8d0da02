"""Messages of `hermes-acp model`."""

from collections.abc import Iterable
from typing import Final

ACTION_HELP: Final = (
    "`list` the endpoint's models (the default), `try` one with a small call, or `set` the one to use"
)
NAME_HELP: Final = "a model, or PROVIDER/MODEL"
PROVIDER_HELP: Final = "the provider to ask; by default the one in use"
NO_VERIFY_HELP: Final = "set it without trying it"
JSON_HELP: Final = "print JSON"
NAME_MISSING: Final = "Name a model."
NAME_HINT: Final = "List them with `hermes-acp model list`."
NO_PROVIDER: Final = "No provider is set up."
SETUP_HINT: Final = "Run `hermes-acp setup`, or name one with --provider."
NOTHING_SET: Final = "Nothing was changed."
IN_USE: Final = "*"


def unknown_provider(name: str, known: Iterable[str]) -> str:
    """Return the error for a provider that does not exist."""
    return f"There is no provider {name!r}. Providers: {', '.join(known)}."


def lists_nothing(address: str) -> str:
    """Say that an endpoint lists no models."""
    return f"{address} lists no models."


def model_line(mark: str, name: str, window_tokens: int | None) -> str:
    """Return one model of a list; the one in use has a mark."""
    window = f"  {window_tokens:,} tokens" if window_tokens else ""
    return f"{mark or ' '} {name}{window}"


def answered(name: str, seconds: float) -> str:
    """Say that a model answered the trial call."""
    return f"{name} answered after {seconds:.1f} s."


def no_answer(name: str, seconds: float) -> str:
    """Say that a model did not answer the trial call in time."""
    return f"{name} did not answer within {seconds:g} s."


def saved(name: str, file: str) -> str:
    """Confirm the new model."""
    return f"The model is now {name} ({file})."


def overridden(names: Iterable[str]) -> str:
    """Say that environment variables override the new setting."""
    return f"These environment variables override it: {', '.join(names)}."
