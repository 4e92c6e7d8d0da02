"""Determine the surface of a client's sessions: an editor, unless the client's capabilities name another one.

`clientCapabilities._meta.hermes.surface` is one of `core.event_types.Surface`.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, get_args

from msgspec import UNSET

from hermes_acp.core.event_types import Surface
from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta

if TYPE_CHECKING:
    from hermes_acp.frontends.acp.connection.client_connection import ClientConnection

SURFACES: Final[Mapping[object, Surface]] = MappingProxyType(
    {each: each for each in get_args(Surface) if each}
)


def surface_of(client: "ClientConnection") -> Surface:
    """Return the surface on which a client's new sessions start."""
    announced = client.announced
    return SURFACES.get(own_meta(announced.meta if announced else UNSET).get("surface"), "editor")
