"""The ways to get a model, as auth methods.

Knows: which methods are offered to which client. Does not know: how a key is checked.
"""

from typing import Final

from hermes_protocol import v1

SETUP: Final = "hermes-setup"
CONFIGURED: Final = "hermes-configured"


def auth_methods(capabilities: v1.ClientCapabilities) -> list[v1.AuthMethod]:
    """List the methods; the interactive one only for a client that can run it in a terminal."""
    configured = v1.AuthMethodAgent(
        id=CONFIGURED,
        name="Use the configured model",
        description="Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run `hermes-acp setup`, "
        "or start Ollama, llama.cpp, vLLM or LM Studio; then try again.",
    )
    if not (capabilities.auth and capabilities.auth.terminal):
        return [configured]
    setup = v1.AuthMethodTerminal(
        id=SETUP,
        name="Set up a model",
        description="Asks for a provider and its key, and keeps them in the hermes-acp home folder.",
        args=["setup"],
    )
    return [setup, configured]
