"""Decide whether the resident process may serve another process's client: only if both would behave the same."""

from collections.abc import Mapping
from typing import Final

from hermes_acp import __version__
from hermes_acp.config.environment import MODEL_VARIABLES, SWITCHES, Environment
from hermes_acp.frontends.acp.daemon.daemon_messages import Hello
from hermes_acp.frontends.acp.messages import daemon

FAMILIES: Final = ("HERMES_", "AWS_", "GOOGLE_", "AZURE_", "OPENAI_", "ANTHROPIC_")
NETWORK: Final = frozenset(
    {"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"}
)
FREE: Final = frozenset({"HERMES_HOME", "HERMES_PROFILE", "HERMES_SERVE_TOKEN", *SWITCHES})
"""Variables that may differ. Both processes use the home folder of the socket, however it was named; the token is for
network clients; and the switches of each client are applied separately."""


def refusal(hello: Hello, own: Environment) -> str:
    """Return why the client must be served by its own process, or an empty string if it need not be."""
    if hello.version != __version__:
        return daemon.other_version(__version__, hello.version)
    if hello.allows_bypass != own.allows_bypass:
        return daemon.OTHER_BYPASS
    ours, theirs = _decisive(own.variables), _decisive(hello.variables)
    differing = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    return daemon.other_variables(differing) if differing else ""


def _decisive(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that affect which model is used, how it is reached, and how the agent behaves."""
    return {
        name: value
        for name, value in variables.items()
        if value
        and name not in FREE
        and (name.startswith(FAMILIES) or name in MODEL_VARIABLES or name.upper() in NETWORK)
    }
