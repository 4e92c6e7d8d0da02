"""How users sign in at an MCP server, where that is not found out at the server itself.

Knows: what may be configured. Does not know: what is done with it.
"""

from pydantic import Field

from hermes_acp.config.settings_section import Section


class OAuthSettings(Section):
    """What somebody registered for this program at the server's authorization server."""

    client_id: str = ""
    client_secret: str = ""
    client_metadata_url: str = Field(default="", pattern=r"^(https://[^\s/]+/[^\s]+)?$")
    port: int = Field(default=0, ge=0, le=65535)
