"""The sessions of signed-in browsers. Each browser has a random secret, whose digest alone is kept, in memory."""

import secrets
from hashlib import sha256
from typing import Final

from msgspec import Struct

PREFIX: Final = "hermes_web_"
MAX_SESSIONS: Final = 10_000
"""The maximum number of sessions; beyond it, the oldest one ends."""


class WebSession(Struct, frozen=True):
    """A signed-in browser. Times are in seconds since the epoch; `digest` is the digest of its secret."""

    id: str
    digest: str
    user: str
    created_at: float
    expires_at: float


class WebSessions:
    """The web sessions of a hub; they end with it."""

    def __init__(self, hours: float) -> None:
        """Start without any sessions; each lasts for `hours` hours."""
        self._seconds = hours * 3600
        self._sessions: dict[str, WebSession] = {}

    def begin(self, user: str, now: float) -> tuple[WebSession, str]:
        """Start a session; return it with its secret."""
        secret = PREFIX + secrets.token_urlsafe(32)
        session = WebSession(secrets.token_hex(6), _digest(secret), user, now, now + self._seconds)
        if len(self._sessions) >= MAX_SESSIONS:
            del self._sessions[next(iter(self._sessions))]
        self._sessions[session.digest] = session
        return session, secret

    def find(self, secret: str, now: float) -> WebSession | None:
        """Return the session that a secret belongs to, unless it has expired."""
        session = self._sessions.get(_digest(secret))
        if session and session.expires_at <= now:
            del self._sessions[_digest(secret)]
            return None
        return session

    def has(self, session: WebSession) -> bool:
        """Return whether a session is still open."""
        return self._sessions.get(session.digest) is session

    def end(self, secret: str) -> WebSession | None:
        """End a session; return it, or None if it did not exist."""
        return self._sessions.pop(_digest(secret), None)


def _digest(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
