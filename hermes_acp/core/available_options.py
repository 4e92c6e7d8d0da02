"""What a session's user can choose from.

Knows: which model the session's options mean. Does not know: where they come from, how one is reached.
"""

from collections.abc import Sequence

from msgspec import Struct

from hermes_acp.core.event_types import Options
from hermes_acp.core.messages import Effort


class AvailableModel(Struct, frozen=True):
    """A model that can be chosen, and the levels of reasoning it has."""

    provider: str
    model: str
    efforts: tuple[Effort, ...] = ()


class AvailableOptions(Struct, frozen=True):
    """What can be chosen: models and backends, the configured one first, empty while not known; whether a mode may be
    chosen that asks about nothing.
    """

    models: tuple[AvailableModel, ...] = ()
    backends: tuple[str, ...] = ()
    allows_bypass: bool = False


def chosen_model(options: Options, offers: Sequence[AvailableModel]) -> AvailableModel | None:
    """Find the offer that a session's options mean; the first is the configured one. None while nothing is offered."""
    if not offers:
        return None
    provider = options.provider or offers[0].provider
    of_provider = [offer for offer in offers if offer.provider == provider] or [offers[0]]
    if not options.model:
        return of_provider[0]
    found = (offer for offer in of_provider if offer.model == options.model)
    return next(found, AvailableModel(of_provider[0].provider, options.model))
