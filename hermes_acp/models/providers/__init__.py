"""The plugin folder for vendors' wire formats; each plugin exports `PROVIDER` and is imported on first use."""

from typing import Final, cast

from hermes_acp.config.provider_presets import WIRE_ENTRY_POINTS
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder, open_installed
from hermes_acp.models.wire.endpoints import Vendor

PROVIDERS: Final[PluginFolder[Vendor]] = PluginFolder("hermes_acp.models.providers", "PROVIDER")


def open_wire(name: str) -> Vendor:
    """Import a wire format: a plugin in this folder, or else one that an installed package adds. Raises ConfigError."""
    if name in PROVIDERS:
        return PROVIDERS.open(name)
    if found := open_installed(WIRE_ENTRY_POINTS, name, kind="wire format", setting="wire"):
        return cast("Vendor", found)
    raise ConfigError(f"There is no wire format {name!r}.", hint="Install the package that adds it.")
