"""The drawer of vendors' wire formats; every leaf exports `PROVIDER` and is imported on first use."""

from typing import Final

from hermes_acp.core.drawers import Drawer
from hermes_acp.models.endpoints import Vendor

PROVIDERS: Final[Drawer[Vendor]] = Drawer("hermes_acp.models.providers", "PROVIDER")
