"""Messages of `hermes-acp mcp`; the status of a server is worded in `mcp/sign_in/oauth_coordinator.py`."""

from typing import Final

LIST_HELP: Final = "connect to each server in config.yaml and show its status and tools (the default)"
LOGIN_HELP: Final = "sign in to a server that requires it"
LOGOUT_HELP: Final = "delete the stored sign-in of a server"
SERVER_HELP: Final = "its name in config.yaml, or its URL"
NO_BROWSER_HELP: Final = "only print the link"
PROGRAM_HINT: Final = "Set what it needs in its `env` in config.yaml."
HEADER_HINT: Final = "Remove that header to sign in instead."


def open_page(link: str) -> str:
    """Ask the user to open the sign-in page."""
    return f"Open this page in a browser on this machine and confirm there:\n{link}"


def sign_in_failed(server: str, reason: str) -> str:
    """Return the error for a sign-in."""
    return f"{server!r}: {reason}"


def signed_in(server: str) -> str:
    """Confirm a sign-in."""
    return f"You are signed in to {server}."


def was_not_signed_in(server: str) -> str:
    """Say that there was no sign-in to delete."""
    return f"You were not signed in to {server!r}."


def signed_out(server: str) -> str:
    """Confirm a sign-out."""
    return f"You are signed out of {server}."


def unknown_server(server: str) -> str:
    """Return the error for a name that config.yaml does not have."""
    return f"config.yaml has no MCP server named {server!r}."


def known_servers(names: str) -> str:
    """Return the list of servers; `names` is empty if there are none."""
    return f"Configured servers: {names or 'none'}. You can also pass a URL."


def is_a_program(server: str) -> str:
    """Say why a local server needs no sign-in."""
    return f"{server!r} is a local program, which has no sign-in."


def has_own_header(server: str) -> str:
    """Say why a server with a fixed header needs no sign-in."""
    return f"config.yaml already sends an Authorization header to {server!r}."
