"""The role that a client asks for when it opens a session: `_meta.hermes.role`."""

from hermes_acp.frontends.acp.extensions.meta_extensions import own_meta
from hermes_acp.sessions.clients.attached_clients import Role


def role_in(meta: object) -> Role:
    """Return the role, `controller` unless `observer` is asked for."""
    return "observer" if own_meta(meta).get("role") == "observer" else "controller"
