"""The plugin folder of vendors' wire formats; every plugin exports `PROVIDER` and is imported on first use."""

from typing import Final, cast

from hermes_acp.config.provider_presets import WIRE_ENTRY_POINTS
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.models.wire.endpoints import Vendor

PROVIDERS: Final[PluginFolder[Vendor]] = PluginFolder("hermes_acp.models.providers", "PROVIDER")


def open_wire(name: str) -> Vendor:
    """Import a wire format: a plugin of this folder, or else one that an installed package adds. Raises ConfigError."""
    if name in PROVIDERS:
        return PROVIDERS.open(name)
    from importlib.metadata import entry_points

    for point in entry_points(group=WIRE_ENTRY_POINTS, name=name):
        try:
            return cast("Vendor", point.load())
        except (ImportError, AttributeError) as error:
            package = point.dist.name if point.dist else point.value
            raise ConfigError(
                f"The wire format {name!r} of the package {package} cannot be loaded: {error}.",
                hint="Install the package again, or choose another `wire`.",
            ) from error
    raise ConfigError(f"There is no wire format {name!r}.", hint="Install the package that adds it.")
