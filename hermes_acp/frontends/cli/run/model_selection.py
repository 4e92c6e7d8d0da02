"""Find the model that `--model` names."""

from collections.abc import Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import anyio
from msgspec import structs

from hermes_acp.config.environment import Environment
from hermes_acp.core.available_options import AvailableModel
from hermes_acp.core.errors import BadRequest, ModelError
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.command_line.nearest_words import nearest

if TYPE_CHECKING:
    from hermes_acp.agent.setup.configuration import Configuration

LIST_TIMEOUT_S: Final = 10.0
PARTLY_LISTED: Final = frozenset({"bedrock", "vertex"})
"""Providers that serve models that they do not list."""
MODEL_VARIABLE: Final = "HERMES_MODEL"


def with_model(environment: Environment, named: str | None) -> Environment:
    """Return the environment with a chosen model, so that the provider is chosen for that model.

    A name with a slash is left out: it may start with a provider's name, or be the whole name at a provider with
    models of many vendors, and only the list of models shows which.
    """
    if not named or "/" in named:
        return environment
    variables = MappingProxyType({**environment.variables, MODEL_VARIABLE: named})
    return structs.replace(environment, variables=variables)


async def select_model(configuration: "Configuration", named: str, usual: str) -> AvailableModel:
    """Return the model with a name; unless it is the `usual` model, check it against the endpoint's list.

    Raises BadRequest for a model that the endpoint does not list. Without a list, the name is used unchecked.
    """
    settings = configuration.settings()
    first = configuration.models()[0]
    if named == (usual or (settings and settings.model)):
        return AvailableModel(first.provider, named)
    listed = await _listed(configuration)
    if named in listed:
        return AvailableModel(first.provider, named)
    provider, model = _split(named, configuration.models())
    is_own = provider == first.provider
    is_known = bool(settings and model in settings.models) or provider in PARTLY_LISTED
    if is_own and listed and not is_known and not _is_alias(model, listed):
        raise BadRequest(
            run_messages.unknown_model(model, provider),
            hint=run_messages.unknown_model_hint(nearest(model, listed), listed),
        )
    return AvailableModel(provider, model)


async def _listed(configuration: "Configuration") -> Sequence[str]:
    """Return the names that the endpoint lists; none if it does not answer."""
    with anyio.move_on_after(LIST_TIMEOUT_S):
        try:
            return await configuration.list_models()
        except ModelError:
            return ()
    return ()


def _split(named: str, offers: Sequence[AvailableModel]) -> tuple[str, str]:
    """Split a name into the provider and the model."""
    provider, _, model = named.partition("/")
    if model and any(offer.provider == provider for offer in offers):
        return provider, model
    return offers[0].provider, named


def _is_alias(model: str, names: Sequence[str]) -> bool:
    """Return whether a model is a listed one with its date or variant added or left out."""
    pairs = ((name, model) for name in names)
    return any(
        one.startswith(f"{other}{sign}")
        for pair in pairs
        for one, other in (pair, pair[::-1])
        for sign in "-:@"
    )
