"""The ways to get a model, as they are offered to every client.

Knows: their ids and what they say. Does not know: any version's shape of them, or how a key is checked.
"""

from typing import Final

from msgspec import Struct

from hermes_acp.frontends.acp.messages import choices


class AuthOption(Struct, frozen=True):
    """One way; with `args` it is a run of this program in a terminal."""

    id: str
    name: str
    description: str
    args: tuple[str, ...] = ()


CONFIGURED: Final = AuthOption("hermes-configured", *choices.CONFIGURED_MODEL)
SETUP: Final = AuthOption("hermes-setup", *choices.SET_UP_MODEL, args=("setup",))
