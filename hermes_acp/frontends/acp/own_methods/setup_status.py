"""_hermes/setup/status: the model that would be used now, and the providers that can be set up."""

from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import overviews
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.models.model_setup.setup_answers import PresentValues


async def report_setup(client: ClientConnection, params: own.SetupStatusParams) -> own.SetupStatusResult:
    """Reload the configuration; if it names no model, look for a model server on this machine."""
    environment = client.app.configuration.access.environment
    problem, choice, fallbacks = "", None, ()
    try:
        _, choice = await run_sync(client.app.configuration.access.read)
        fallbacks = await run_sync(client.app.configuration.access.fallbacks)
        choice = choice or await _detected(client)
        problem = "" if choice else overviews.NO_MODEL
    except HermesError as error:
        problem = error.sentence()
    return own.SetupStatusResult(
        is_ready=choice is not None and not problem,
        problem=problem,
        provider=choice.provider if choice else "",
        model=choice.model if choice else "",
        base_url=choice.base_url if choice else "",
        fallbacks=[f"{each.provider}/{each.model}" for each in fallbacks],
        config_file=str(environment.config_file),
        secrets_file=str(environment.secrets_file),
        providers=await run_sync(_providers, client),
    )


async def _detected(client: ClientConnection) -> "ModelChoice | None":
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.models.wire.local_detection import detect_local

    found = await detect_local() if client.app.configuration.access.may_detect() else None
    return found and ModelChoice(provider="openai_compatible", model=found.model, base_url=found.base_url)


def _providers(client: ClientConnection) -> list[own.SetupStatusProvider]:
    from hermes_acp.config.provider_presets import presets
    from hermes_acp.models.model_setup.setup_answers import readable_values

    present = readable_values(client.app.configuration.access.environment)
    return [_provider(present, name) for name in presets()]


def _provider(present: "PresentValues", name: str) -> own.SetupStatusProvider:
    from hermes_acp.config.provider_presets import presets
    from hermes_acp.models.model_setup.setup_answers import CUSTOM

    preset = presets()[name]
    return own.SetupStatusProvider(
        name=name,
        label=preset.label,
        base_url=present.base_url(name),
        model="" if name in CUSTOM else preset.model,
        key_variable=present.key_variable(name),
        has_key=bool(present.key(name)),
        needs_url=name in CUSTOM,
    )


EXTENSION = Method(own.SetupStatusParams, report_setup)
