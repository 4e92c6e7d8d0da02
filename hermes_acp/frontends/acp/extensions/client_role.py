"""Parse the role that a client requests when it opens a session: `_meta.hermes.role`."""

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta
from hermes_acp.frontends.acp.messages import errors
from hermes_acp.sessions.clients.attached_clients import Role


def role_in(meta: object) -> Role:
    """Return the requested role; `controller` if none is requested. Raises BadRequest for an unknown role."""
    return checked_role(own_meta(meta).get("role", "controller"))


def checked_role(asked: object) -> Role:
    """Validate a requested role. Raises BadRequest for an unknown role."""
    match asked:
        case "controller":
            return "controller"
        case "observer":
            return "observer"
        case other:
            raise BadRequest(errors.unknown_role(str(other)), hint=errors.ROLES_HINT)
