"""The `hermes-acp model` command: list the models of an endpoint, try one, or set the one to use."""

import argparse
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Final, TypeVar

import anyio

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest, HermesError, ModelTimeout
from hermes_acp.frontends.cli.cli_output import escaped, note, print_json
from hermes_acp.frontends.cli.model import messages

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.models.model_setup.setup_answers import PresentValues

T = TypeVar("T")
ACTIONS: Final = ("list", "try", "set")
TIMEOUT_S: Final = 60.0
CHOOSING: Final = ("HERMES_PROVIDER", "HERMES_MODEL")


def add_model(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.add_argument("action", nargs="?", choices=ACTIONS, default="list", help=messages.ACTION_HELP)
    parser.add_argument("name", nargs="?", metavar="MODEL", help=messages.NAME_HELP)
    parser.add_argument("--provider", metavar="NAME", help=messages.PROVIDER_HELP)
    parser.add_argument("--no-verify", action="store_true", help=messages.NO_VERIFY_HELP)
    parser.add_argument("--json", action="store_true", help=messages.JSON_HELP)


def run_model(options: argparse.Namespace) -> int:
    """Carry out the action and return the exit code."""
    from hermes_acp.models.model_setup.setup_answers import present_values

    environment = read_environment()
    present = present_values(environment)
    provider, model = _named(present, options)
    if options.action == "list":
        return _list(present, provider, as_json=options.json)
    if not model:
        raise BadRequest(messages.NAME_MISSING, hint=messages.NAME_HINT)
    if options.action == "try":
        _try(present, provider, model)
        return 0
    if not options.no_verify:
        try:
            _try(present, provider, model)
        except HermesError:
            note(messages.NOTHING_SET)
            raise
    _set(environment, provider, model)
    return 0


def _named(present: "PresentValues", options: argparse.Namespace) -> tuple[str, str]:
    """Return the provider and the model that the arguments name. Raises BadRequest."""
    from hermes_acp.config.provider_presets import presets

    known = (*presets(), *(name for name in present.settings.providers if name not in presets()))
    name: str = options.name or ""
    first, _, rest = name.partition("/")
    provider, model = (first, rest) if rest and first in known else ("", name)
    provider = options.provider or provider or present.provider
    if not provider:
        raise BadRequest(messages.NO_PROVIDER, hint=messages.SETUP_HINT)
    if provider not in known:
        raise BadRequest(messages.unknown_provider(provider, known))
    return provider, model


def _choice(present: "PresentValues", provider: str, model: str) -> "tuple[Settings, ModelChoice]":
    """Return the settings and the chosen model. Raises AuthRequired, ConfigError or BadRequest."""
    from hermes_acp.config.model_choice import choose_model, without_choice

    settings = present.settings.model_copy(update={"provider": provider, "model": model or None})
    choice = choose_model(settings, without_choice(present.variables))
    if choice is None:
        raise BadRequest(messages.NO_PROVIDER, hint=messages.SETUP_HINT)
    return settings, choice


def _list(present: "PresentValues", provider: str, *, as_json: bool) -> int:
    from hermes_acp.models.model_setup.model_trial import models_of

    settings, choice = _choice(present, provider, "")
    listed = anyio.run(_within_time, lambda: models_of(settings, choice), choice.base_url)
    used = present.model if provider == present.provider else ""
    if as_json:
        rows = [
            {
                "provider": provider,
                "model": each.name,
                "window_tokens": each.window_tokens,
                "is_used": each.name == used,
            }
            for each in listed
        ]
        print_json(rows)
        return 0
    for each in listed:
        mark = messages.IN_USE if each.name == used else ""
        print(messages.model_line(mark, escaped(f"{provider}/{each.name}"), each.window_tokens))
    if not listed:
        note(messages.lists_nothing(choice.base_url))
    return 0


def _try(present: "PresentValues", provider: str, model: str) -> None:
    """Try a model with a small call. Raises ModelError."""
    from hermes_acp.models.model_setup.model_trial import call_model

    settings, choice = _choice(present, provider, model)
    name = f"{provider}/{model}"
    began = time.monotonic()
    anyio.run(_within_time, lambda: call_model(settings, choice), name)
    note(messages.answered(name, time.monotonic() - began))


async def _within_time(work: Callable[[], Awaitable[T]], name: str) -> T:
    try:
        with anyio.fail_after(TIMEOUT_S):
            return await work()
    except TimeoutError as error:
        raise ModelTimeout(messages.no_answer(name, TIMEOUT_S)) from error


def _set(environment: Environment, provider: str, model: str) -> None:
    """Write the model to the settings file, preserving everything else. Raises StorageError or ConfigError."""
    from hermes_acp.config.settings_text import read_text
    from hermes_acp.config.yaml_text import with_value
    from hermes_acp.storage.private_files import write_private_text

    text = with_value(read_text(environment.config_file), ("provider",), provider)
    write_private_text(environment.config_file, with_value(text, ("model",), model))
    print(messages.saved(escaped(f"{provider}/{model}"), str(environment.config_file)))
    written = dict(zip(CHOOSING, (provider, model), strict=True))
    if held := [
        name for name in CHOOSING if environment.variables.get(name) not in (None, "", written[name])
    ]:
        note(messages.overridden(held))
