"""Messages for the overviews of MCP servers, context files and trust, and for setup and refused changes."""

from typing import Final

SWITCHED_OFF: Final = "switched off"
NOT_TRUSTED: Final = "not trusted, so it is not started"
NOT_STARTED: Final = "starts with the first prompt of a session"
SIGNED_OUT: Final = "You are signed out."
WAS_NOT_SIGNED_IN: Final = "You were not signed in."
SIGN_IN_OPENED: Final = "Sign in on the page within five minutes."
SWITCHED_ON_TEXT: Final = "Switched on."
SWITCHED_OFF_TEXT: Final = "Switched off. Running sessions no longer have its tools."
NO_MODEL: Final = "No model is set up, and no model server answers on this machine."
NAME_A_MODEL: Final = "The endpoint lists no models. Enter the name of one."
SERVER_NAMES_HINT: Final = "_hermes/mcp/list shows the names."


def server_state(is_enabled: bool, is_trusted: bool) -> str:
    """Return the state of a server that no session has started."""
    if not is_enabled:
        return SWITCHED_OFF
    return NOT_STARTED if is_trusted else NOT_TRUSTED


def no_such_server(name: str) -> str:
    """Say that no MCP server has this name."""
    return f"There is no MCP server {name[:80]!r} here."


def no_sign_in(name: str) -> str:
    """Say that a server does not support signing in."""
    return (
        f"There is no sign-in for {name[:80]!r}: it is a local program, or config.yaml has its credentials."
    )


def not_yours(name: str) -> str:
    """Say that only the user's own servers can be switched."""
    return f"{name[:80]!r} is not configured in config.yaml."


def context_is_remote(backend: str) -> str:
    """Say that no context files are read because the session's files are elsewhere."""
    return f"The files of this session are on the backend {backend}, so no context files are read."
