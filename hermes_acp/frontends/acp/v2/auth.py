"""Convert the authentication methods to the wire types of version 2."""

from hermes_acp.frontends.acp.connection.auth_options import CONFIGURED, SETUP
from hermes_protocol import v2


def auth_methods(capabilities: v2.ClientCapabilities | v2.UnsetType) -> list[v2.AuthMethod]:
    """List the methods; the interactive one is offered only to clients that can run it in a terminal."""
    configured = v2.AuthMethodAgent(
        method_id=CONFIGURED.id, name=CONFIGURED.name, description=CONFIGURED.description
    )
    if not (capabilities and capabilities.auth and capabilities.auth.terminal):
        return [configured]
    setup = v2.AuthMethodTerminal(
        method_id=SETUP.id, name=SETUP.name, description=SETUP.description, args=list(SETUP.args)
    )
    return [setup, configured]
