"""Auth methods: how a user gets a model, the same for every version of the protocol."""

from typing import Final

from msgspec import Struct

from hermes_acp.frontends.acp.messages import choices


class AuthOption(Struct, frozen=True):
    """One auth method; with `args` it runs this program in a terminal."""

    id: str
    name: str
    description: str
    args: tuple[str, ...] = ()


CONFIGURED: Final = AuthOption("hermes-configured", *choices.CONFIGURED_MODEL)
SETUP: Final = AuthOption("hermes-setup", *choices.SET_UP_MODEL, args=("setup",))
