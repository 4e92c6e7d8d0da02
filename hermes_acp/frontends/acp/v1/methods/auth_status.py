"""auth/status: whether a model can be used without signing in."""

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.v1.auth_status import auth_status
from hermes_protocol import v1


async def answer_auth_status(client: ClientConnection, params: v1.AuthStatusRequest) -> v1.AuthStatusResponse:
    """Return the status and the names of the accounts."""
    status = client.last_auth_status = await auth_status(client)
    return status


METHOD = Method(v1.AuthStatusRequest, answer_auth_status, is_unstable=True)
