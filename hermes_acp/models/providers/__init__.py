"""The plugin folder of vendors' wire formats; every plugin exports `PROVIDER` and is imported on first use."""

from typing import Final

from hermes_acp.core.plugins import PluginFolder
from hermes_acp.models.wire.endpoints import Vendor

PROVIDERS: Final[PluginFolder[Vendor]] = PluginFolder("hermes_acp.models.providers", "PROVIDER")
