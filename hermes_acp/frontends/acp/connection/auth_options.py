"""The ways to get a model, as they are offered to every client.

Knows: their ids and what they say. Does not know: any version's shape of them, or how a key is checked.
"""

from typing import Final

from msgspec import Struct


class AuthOption(Struct, frozen=True):
    """One way; with `args` it is a run of this program in a terminal."""

    id: str
    name: str
    description: str
    args: tuple[str, ...] = ()


CONFIGURED: Final = AuthOption(
    "hermes-configured",
    "Use the configured model",
    "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or run `hermes-acp setup`, "
    "or start Ollama, llama.cpp, vLLM or LM Studio; then try again.",
)
SETUP: Final = AuthOption(
    "hermes-setup",
    "Set up a model",
    "Asks for a provider and its key, and keeps them in the hermes-acp home folder.",
    ("setup",),
)
