"""The addresses of a fleet's servers, and how a profile uses them."""

import re
from importlib import import_module
from io import StringIO
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings_text import read_text
from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_acp.config.sections.fleet_settings import FleetSettings

DATABASE_VARIABLE: Final = "HERMES_FLEET_DATABASE"
LIBRARIES: Final = ("psycopg", "temporalio")
MAX_SCHEMA_CHARACTERS: Final = 63
"""Postgres truncates names that are longer than this."""


class FleetAccess(Struct, frozen=True):
    """The servers of a fleet, and the limits for a profile.

    `database` is a libpq connection URI, which may contain a password. `tenant` names the profile within the fleet, and
    `pool` names the workers that share its work. At most `max_running` runs of the profile are in progress at once; 0
    means no limit. The states of folders are stored at the address `workspaces`, if it is not empty. A run waits
    `move_after_s` seconds for the machine that has its folder.
    """

    database: str
    address: str = "127.0.0.1:7233"
    namespace: str = "default"
    tenant: str = "default"
    pool: str = "default"
    max_running: int = 0
    api_key: str = ""
    uses_tls: bool = False
    workspaces: str = ""
    move_after_s: float = 60.0

    def __repr__(self) -> str:
        """Return a representation without secrets, for logs."""
        return f"FleetAccess({self.tenant!r}, {self.pool!r}, {self.address!r}, {self.namespace!r})"

    @property
    def schema(self) -> str:
        """The database schema that contains the profile's tables."""
        return schema_of(self.tenant)


def schema_of(tenant: str) -> str:
    """Return the name of the schema with a profile's tables. Raises ConfigError."""
    name = "hermes_" + re.sub(r"[^a-z0-9]", lambda found: f"_{ord(found[0]):x}_", tenant)
    if len(name) > MAX_SCHEMA_CHARACTERS:
        raise ConfigError(f"The fleet's name of this profile is too long: {tenant!r}.")
    return name


def fleet_database(environment: Environment) -> str:
    """Return the URI of the fleet's database, or an empty string if this profile belongs to no fleet. Blocks."""
    if named := environment.variables.get(DATABASE_VARIABLE):
        return named
    try:
        text = read_text(environment.secrets_file)
    except ConfigError:
        return ""  # the error is reported where the secrets are needed
    if DATABASE_VARIABLE not in text:
        return ""
    from dotenv import dotenv_values

    return dotenv_values(stream=StringIO(text), interpolate=False).get(DATABASE_VARIABLE) or ""


def fleet_access(environment: Environment, settings: "FleetSettings") -> FleetAccess:
    """Return a profile's access to its fleet. Raises ConfigError if it belongs to none."""
    database = fleet_database(environment)
    if not database:
        raise ConfigError(
            "No database is configured for the fleet.",
            hint=f"Set {DATABASE_VARIABLE} in {environment.secrets_file}, such as postgresql://host/hermes.",
        )
    tenant = settings.tenant or environment.profile
    return FleetAccess(
        database,
        settings.address,
        settings.namespace,
        tenant,
        settings.pool or tenant,
        settings.max_running,
        environment.variables.get("TEMPORAL_API_KEY", ""),
        settings.tls,
        settings.workspaces,
        settings.move_after_seconds,
    )


def load_fleet_libraries() -> None:
    """Import the libraries of the `fleet` extra. Blocks. Raises ConfigError if one is not installed."""
    try:
        for name in LIBRARIES:
            import_module(name)
    except ImportError as error:
        raise ConfigError(
            f"A library for runs on many machines cannot be imported: {error}.",
            hint="Install hermes-acp with the extra `fleet`.",
        ) from error
