"""The OAuth settings for an MCP server."""

from pydantic import Field

from hermes_acp.config.settings_section import Section


class OAuthSettings(Section):
    """An OAuth client that you registered, for servers without dynamic client registration."""

    client_id: str = ""
    """ID of the client you registered."""
    client_secret: str = ""
    """Secret of the client."""
    client_metadata_url: str = Field(default="", pattern=r"^(https://[^\s/]+/[^\s]+)?$")
    """Address of a client metadata document, for servers that support one."""
    port: int = Field(default=0, ge=0, le=65535)
    """Port of the OAuth callback on this machine. `0`: any free port."""
