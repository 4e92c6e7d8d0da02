"""The protocol versions that are generated, one per row."""

from typing import Final

from msgspec import Struct

PACKAGE: Final = "@agentclientprotocol/sdk"


class Source(Struct, frozen=True, kw_only=True):
    """One published schema; `package_path` is relative to the package, `schema` to `protocol/`."""

    name: str
    package_path: str
    schema: str


class Version(Struct, frozen=True, kw_only=True):
    """One protocol version; anything that only `full` contains is unstable. Paths are relative to `protocol/`."""

    name: str
    stable: Source
    full: Source
    module: str
    methods: str


VERSIONS: Final = (
    Version(
        name="v1",
        stable=Source(name="v1", package_path="schema/v1/schema.json", schema="schema/v1.json"),
        full=Source(
            name="v1.unstable",
            package_path="schema/v1/schema.unstable.json",
            schema="schema/v1.unstable.json",
        ),
        module="hermes_protocol/v1.py",
        methods="hermes_protocol/methods.py",
    ),
    Version(
        name="v2",
        stable=Source(name="v2", package_path="schema/v2/schema.json", schema="schema/v2.json"),
        full=Source(
            name="v2.unstable",
            package_path="schema/v2/schema.unstable.json",
            schema="schema/v2.unstable.json",
        ),
        module="hermes_protocol/v2.py",
        methods="hermes_protocol/v2_methods.py",
    ),
)
SOURCES: Final = tuple(source for version in VERSIONS for source in (version.stable, version.full))
