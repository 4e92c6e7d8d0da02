"""The editor's own trust in a workspace: `_meta.hermes.workspaceTrusted`.

Knows: where it is said, at initialize or for one session, and what follows. Does not know: what is to be trusted.
An editor that does not trust a folder has it read and planned in, and nothing of it used. One that does has said
nothing of what a folder contains: that is asked all the same.
"""

from typing import TYPE_CHECKING, Any, cast

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session


def is_distrusted(client: ClientConnection, meta: object) -> bool:
    """Return whether the editor distrusts the workspace; the session's own `_meta` wins over the client's."""
    is_trusted = _trust_in(meta)
    if is_trusted is None:
        is_trusted = _trust_in(client.greeted.meta if client.greeted else None)
    return is_trusted is False


def apply_editor_trust(client: ClientConnection, session: "Session", meta: object) -> None:
    """Start a session in plan mode, and trust nothing of its workspace, if the editor distrusts it."""
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
