"""The authentication methods that a user can choose, the same in every protocol version."""

from typing import Final

from msgspec import Struct

from hermes_acp.frontends.acp.messages import choices


class AuthOption(Struct, frozen=True):
    """One authentication method; with `args`, the client runs this program with them in a terminal."""

    id: str
    name: str
    description: str
    args: tuple[str, ...] = ()


CONFIGURED: Final = AuthOption("hermes-configured", *choices.CONFIGURED_MODEL)
SETUP: Final = AuthOption("hermes-setup", *choices.SET_UP_MODEL, args=("setup",))
