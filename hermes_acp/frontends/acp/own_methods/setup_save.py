"""_hermes/setup/save: store a provider, its key and a model, and use them from the next turn on."""

from anyio.to_thread import run_sync

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_protocol import own


async def save_setup(client: ClientConnection, params: own.SetupSaveParams) -> own.SetupSaveResult:
    """Store the settings. Raises BadRequest if a value is unusable; also ConfigError and StorageError."""
    from hermes_acp.models.model_setup.setup_answers import (
        answers_of,
        overriding_variables,
        present_values,
        write_answers,
    )

    configuration = client.app.configuration
    environment = configuration.access.environment
    present = await run_sync(present_values, environment)
    answers = answers_of(present, params.provider, params.base_url, params.api_key, params.model)
    await run_sync(write_answers, environment, answers)
    configuration.is_signed_out = False
    configuration.forget_model()
    return own.SetupSaveResult(
        config_file=str(environment.config_file),
        overridden_by=overriding_variables(environment, answers),
    )


EXTENSION = Method(own.SetupSaveParams, save_setup)
