"""Convert the authentication methods to the wire types of version 1."""

from hermes_acp.frontends.acp.connection.auth_options import CONFIGURED, SETUP
from hermes_protocol import v1


def auth_methods(capabilities: v1.ClientCapabilities) -> list[v1.AuthMethod]:
    """List the methods; the interactive one is offered only to clients that can run it in a terminal."""
    configured = v1.AuthMethodAgent(
        id=CONFIGURED.id, name=CONFIGURED.name, description=CONFIGURED.description
    )
    if not (capabilities.auth and capabilities.auth.terminal):
        return [configured]
    setup = v1.AuthMethodTerminal(
        id=SETUP.id, name=SETUP.name, description=SETUP.description, args=list(SETUP.args)
    )
    return [setup, configured]
