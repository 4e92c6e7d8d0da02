"""The protocol versions that are generated, a row each.

Knows: where a version's schema comes from and which files are made of it. Does not know: how.
"""

from typing import Final

from msgspec import Struct

PACKAGE: Final = "@agentclientprotocol/sdk"


class Version(Struct, frozen=True, kw_only=True):
    """One protocol version; paths are relative to the package and to `protocol/`."""

    name: str
    package_path: str
    schema: str
    module: str
    methods: str


VERSIONS: Final = (
    Version(
        name="v1",
        package_path="schema/v1/schema.json",
        schema="schema/v1.json",
        module="hermes_protocol/v1.py",
        methods="hermes_protocol/methods.py",
    ),
)
