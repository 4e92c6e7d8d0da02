"""The status report of the resident process."""

import os
from contextlib import suppress
from typing import Final

from hermes_acp import __version__
from hermes_acp.app.app import App
from hermes_acp.core.errors import StorageError
from hermes_acp.core.ports.run_ports import RunFilter
from hermes_acp.frontends.acp.daemon.daemon_messages import DaemonStatus, SessionStatus
from hermes_acp.sessions.session import Session

MAX_COUNTED: Final = 10_000


async def daemon_status(
    app: App, started_at: float, address: str, clients: tuple[str, ...], flags: tuple[str, ...]
) -> DaemonStatus:
    """Return the status of this process."""
    opened = app.sessions.opened
    questions = sum(len(session.clients.asks) for session in opened)
    with suppress(StorageError):  # the other facts are shown even if the runs cannot be read
        questions += await _questions_of_runs(app)
    sessions = tuple(_status_of(session) for session in opened)
    return DaemonStatus(os.getpid(), __version__, started_at, address, clients, sessions, flags, questions)


async def _questions_of_runs(app: App) -> int:
    waiting = await app.run_service.engine.list(RunFilter(states=("input_required",), limit=MAX_COUNTED))
    asked = {session.id for session in app.sessions.opened if session.clients.asks}
    return sum(len(run.waits_for) for run in waiting if run.order.session_id not in asked)


def _status_of(session: Session) -> SessionStatus:
    state = "running" if session.has_work else "idle"
    if session.clients.asks:
        state = "waiting"
    names = tuple(f"{client.name} ({client.role})" for client in session.clients.attached)
    return SessionStatus(session.id, session.record.title, session.record.cwd, state, names)
