"""Apply the editor's own trust in a workspace: `_meta.hermes.workspaceTrusted`.

The editor sends it at initialize or for one session. If an editor does not trust a folder, the agent can read and plan
there, but uses none of its settings or tools. Even if the editor trusts a folder, the agent still asks about them.
"""

from typing import TYPE_CHECKING, Any, cast

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session


def is_distrusted(client: ClientConnection, meta: object) -> bool:
    """Return whether the editor distrusts the workspace; the session's `_meta` takes precedence over the client's."""
    is_trusted = _trust_in(meta)
    if is_trusted is None:
        is_trusted = _trust_in(client.greeted.meta if client.greeted else None)
    return is_trusted is False


def apply_editor_trust(client: ClientConnection, session: "Session", meta: object) -> None:
    """Start a session in plan mode, trusting nothing from its workspace, if the editor distrusts it."""
    is_distrusted_now = is_distrusted(client, meta)
    client.app.workspace_trust.set_editor_trust(session.record.cwd, is_trusted=not is_distrusted_now)
    if is_distrusted_now:
        session.set_mode("plan")


def _trust_in(meta: object) -> bool | None:
    if not isinstance(meta, dict):
        return None
    own = cast("dict[str, Any]", meta).get("hermes")
    is_trusted = cast("dict[str, Any]", own).get("workspaceTrusted") if isinstance(own, dict) else None
    return is_trusted if isinstance(is_trusted, bool) else None
