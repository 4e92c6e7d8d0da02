"""_hermes/setup/check: list an endpoint's models, and try one with a small call."""

from typing import TYPE_CHECKING

from anyio.to_thread import run_sync
from msgspec import structs

from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.messages import overviews
from hermes_protocol import own

if TYPE_CHECKING:
    from hermes_acp.core.ports.model_ports import ListedModel


async def check_setup(client: ClientConnection, params: own.SetupCheckParams) -> own.SetupCheckResult:
    """Try the settings without storing them; a failed call is a result. Raises BadRequest for unusable values."""
    from hermes_acp.models.model_setup.model_trial import list_models, try_model
    from hermes_acp.models.model_setup.setup_answers import answers_of, readable_values, usual_model

    present = await run_sync(readable_values, client.app.configuration.access.environment)
    answers = answers_of(present, params.provider, params.base_url, params.api_key, params.model)
    listed: tuple[ListedModel, ...] = ()
    failure = ""
    try:
        listed = await list_models(present, answers)
    except HermesError as error:
        failure = error.sentence()
    model = answers.model or usual_model(present, answers, listed)
    names = [each.name for each in listed]
    if not model:
        return own.SetupCheckResult(
            models=names, model="", is_working=False, text=failure or overviews.NAME_A_MODEL
        )
    try:
        said = await try_model(present, structs.replace(answers, model=model))
    except HermesError as error:
        return own.SetupCheckResult(models=names, model=model, is_working=False, text=error.sentence())
    return own.SetupCheckResult(models=names, model=model, is_working=True, text=said.strip())


EXTENSION = Method(own.SetupCheckParams, check_setup)
