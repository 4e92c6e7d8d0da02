"""What the resident process says about itself."""

import os

from hermes_acp import __version__
from hermes_acp.app.app import App
from hermes_acp.frontends.acp.daemon.daemon_messages import DaemonStatus, SessionStatus
from hermes_acp.sessions.session import Session


def daemon_status(
    app: App, started_at: float, address: str, clients: tuple[str, ...], flags: tuple[str, ...]
) -> DaemonStatus:
    """Return the status of this process."""
    sessions = tuple(_status_of(session) for session in app.sessions.opened)
    return DaemonStatus(os.getpid(), __version__, started_at, address, clients, sessions, flags)


def _status_of(session: Session) -> SessionStatus:
    state = "running" if session.has_work else "idle"
    if session.clients.waits_for_answer:
        state = "waiting"
    names = tuple(f"{client.name} ({client.role})" for client in session.clients.attached)
    return SessionStatus(session.id, session.record.title, session.record.cwd, state, names)
