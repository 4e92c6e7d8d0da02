"""The options that a session's user can choose."""

from collections.abc import Sequence

from msgspec import Struct

from hermes_acp.core.event_types import Options
from hermes_acp.core.messages import Effort


class AvailableModel(Struct, frozen=True):
    """A model that can be chosen, with its reasoning levels."""

    provider: str
    model: str
    efforts: tuple[Effort, ...] = ()


class AvailableOptions(Struct, frozen=True):
    """The models and backends that can be chosen, the configured one first; empty until known.

    `allows_bypass` means that the mode that never asks may be chosen.
    """

    models: tuple[AvailableModel, ...] = ()
    backends: tuple[str, ...] = ()
    allows_bypass: bool = False


def chosen_model(options: Options, offers: Sequence[AvailableModel]) -> AvailableModel | None:
    """Return the model that a session's options name, or by default the first, which is the configured one.

    Returns None until a model is known.
    """
    if not offers:
        return None
    provider = options.provider or offers[0].provider
    of_provider = [offer for offer in offers if offer.provider == provider] or [offers[0]]
    if not options.model:
        return of_provider[0]
    found = (offer for offer in of_provider if offer.model == options.model)
    return next(found, AvailableModel(of_provider[0].provider, options.model))
