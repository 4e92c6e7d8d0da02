"""What an editor says of its own trust in a workspace: `_meta.hermes.workspaceTrusted`.

Knows: where it is said, at initialize or for one session, and what follows. Does not know: what is to be trusted.
An editor that does not trust a folder has it read and planned in, and nothing of it used. One that does has said
nothing of what a folder contains: that is asked all the same.
"""

from typing import TYPE_CHECKING, Any, cast

from hermes_acp.frontends.acp.connection.client_connection import ClientConnection

if TYPE_CHECKING:
    from hermes_acp.sessions.session import Session


def is_distrusted(client: ClientConnection, meta: object) -> bool:
    """Return whether the editor does not trust a session's workspace; what is said of the session itself counts
    first.
    """
    told = _told(meta)
    if told is None:
        told = _told(client.greeted.meta if client.greeted else None)
    return told is False


def apply_editor_trust(client: ClientConnection, session: "Session", meta: object) -> None:
    """Let a session of a workspace the editor does not trust begin in plan mode, and trust nothing there."""
    is_distrusted_now = is_distrusted(client, meta)
    client.app.workspace_trust.set_editor_trust(session.record.cwd, is_trusted=not is_distrusted_now)
    if is_distrusted_now:
        session.set_mode("plan")


def _told(meta: object) -> bool | None:
    if not isinstance(meta, dict):
        return None
    own = cast("dict[str, Any]", meta).get("hermes")
    told = cast("dict[str, Any]", own).get("workspaceTrusted") if isinstance(own, dict) else None
    return told if isinstance(told, bool) else None
