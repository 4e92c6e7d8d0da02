"""session/detach: detach from a session, which continues."""

from hermes_acp.frontends.acp.connection.method_spec import Method
from hermes_acp.frontends.acp.extensions.session_attach import DetachRequest, detach_from_session

METHOD = Method(DetachRequest, detach_from_session, is_unstable=True, access="any")
