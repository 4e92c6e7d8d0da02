"""Check which model is configured and, if online, whether its endpoint answers."""

from typing import TYPE_CHECKING, Final

import anyio
import anyio.to_thread

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings

CALL_TIMEOUT_S: Final = 30.0
LISTING_TIMEOUT_S: Final = 10.0


async def check_model(environment: Environment, *, is_online: bool) -> list[Finding]:
    """Return findings about the settings files and the model.

    Other machines are contacted only if `is_online`.
    """
    from hermes_acp.config.settings_check import check_settings

    file = str(environment.config_file)
    wrong = await anyio.to_thread.run_sync(check_settings, environment)
    if wrong:
        return [
            Finding(
                "settings",
                "problem",
                doctor_messages.broken_setting(file, each.sentence),
                doctor_messages.REPAIR,
            )
            for each in wrong
        ]
    try:
        settings, choice = await anyio.to_thread.run_sync(_configured, environment)
    except HermesError as error:
        return [Finding("model", "problem", error.message, error.hint or doctor_messages.CHOOSE_MODEL)]
    choice = choice or await _running_here()
    if choice is None:
        return [Finding("model", "note", doctor_messages.NO_MODEL, doctor_messages.SET_UP)]
    if not is_online:
        return [Finding("model", "fine", doctor_messages.model_set(choice.model, choice.base_url))]
    return [await _tried(settings, choice)]


def endpoint_of(environment: Environment) -> str:
    """Return the address of the configured model's endpoint; empty if no model is configured. Blocks."""
    try:
        _, choice = _configured(environment)
    except HermesError:
        return ""
    return choice.base_url if choice else ""


def _configured(environment: Environment) -> "tuple[Settings, ModelChoice | None]":
    from hermes_acp.config.model_choice import choose_model
    from hermes_acp.config.settings import load_settings, load_variables
    from hermes_acp.models.model_connections import with_usual_model

    settings = load_settings(environment)
    choice = choose_model(settings, load_variables(environment))
    return settings, choice and with_usual_model(choice)


async def _running_here() -> "ModelChoice | None":
    """Return the finding about a model server on this machine, which is used if nothing is configured."""
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.models.wire.local_detection import detect_local

    found = await detect_local()
    return found and ModelChoice(provider="openai_compatible", model=found.model, base_url=found.base_url)


async def _tried(settings: "Settings", choice: "ModelChoice") -> Finding:
    """Try the model with a small call, as setup does."""
    from hermes_acp.models.model_setup.model_trial import call_model

    if not choice.model:
        names = await _listed(settings, choice)
        if not names:
            text = doctor_messages.unlisted(choice.base_url)
            return Finding("model", "problem", text, doctor_messages.CHOOSE_MODEL)
        choice = choice.model_copy(update={"model": names[0]})
    begun = anyio.current_time()
    try:
        with anyio.fail_after(CALL_TIMEOUT_S):
            await call_model(settings, choice)
    except TimeoutError:
        late = doctor_messages.no_answer(choice.model, choice.base_url, CALL_TIMEOUT_S)
        return Finding("model", "problem", late, doctor_messages.CHANGE_MODEL)
    except HermesError as error:
        return await _failure(settings, choice, error)
    seconds = anyio.current_time() - begun
    return Finding("model", "fine", doctor_messages.model_answered(choice.model, choice.base_url, seconds))


async def _failure(settings: "Settings", choice: "ModelChoice", error: HermesError) -> Finding:
    """Return the finding about a failed call; it names available models if the endpoint does not list this one."""
    from hermes_acp.frontends.command_line.nearest_words import nearest

    names = await _listed(settings, choice)
    if not names or choice.model in names:
        text = doctor_messages.model_failed(choice.model, error.message)
        hint = f"{error.hint} {doctor_messages.CHANGE_MODEL}".strip()
    else:
        shown = nearest(choice.model, names) or names[: doctor_messages.MAX_MODELS]
        text = doctor_messages.unknown_model(choice.model, choice.base_url, error.message, shown)
        hint = doctor_messages.CHANGE_MODEL
    return Finding("model", "problem", text, hint)


async def _listed(settings: "Settings", choice: "ModelChoice") -> "Sequence[str]":
    """Return the names of the models that the endpoint lists, if any."""
    from hermes_acp.models.model_setup.model_trial import models_of

    try:
        with anyio.move_on_after(LISTING_TIMEOUT_S):
            return [model.name for model in await models_of(settings, choice)]
    except HermesError:
        pass
    return ()
