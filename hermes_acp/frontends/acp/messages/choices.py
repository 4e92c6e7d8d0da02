"""Names and descriptions of what a user can choose: sign-in, modes, models, options of a session."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

Label = tuple[str, str]
"""A name and a description, which may be empty."""

CONFIGURED_MODEL: Final[Label] = (
    "Use the configured model",
    "Set OPENAI_API_KEY or ANTHROPIC_API_KEY, run `hermes-acp setup`, or start Ollama, llama.cpp, vLLM or LM Studio. "
    "Then try again.",
)
SET_UP_MODEL: Final[Label] = (
    "Set up a model",
    "Asks for a provider and its key, and saves both in the hermes-acp home folder.",
)

OPTION_NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "mode": "Mode",
        "model": "Model",
        "provider": "Provider",
        "effort": "Reasoning effort",
        "during_turn": "Messages while working",
        "shows_thoughts": "Show thoughts",
        "backend": "Runs on",
    }
)
MODES: Final[Mapping[str, Label]] = MappingProxyType(
    {
        "ask": ("Ask", "Asks before each edit, and before each command that may change something."),
        "accept_edits": (
            "Accept edits",
            "Edits files in the workspace without asking. Asks before commands.",
        ),
        "plan": ("Plan", "Reads and plans. Changes nothing."),
        "auto": (
            "Auto",
            "Works on its own inside the sandbox. Asks before leaving it and before using secrets.",
        ),
        "bypass": (
            "Bypass",
            "Never asks, with or without a sandbox. Only for machines you can afford to lose.",
        ),
    }
)
BACKENDS: Final[Mapping[str, Label]] = MappingProxyType(
    {
        "local": ("This machine", ""),
        "docker": ("Container", "Commands run in a container that mounts the workspace folders."),
        "singularity": ("Apptainer", "Commands run in an Apptainer instance."),
        "ssh": ("Another machine", "Commands run and files are stored on a machine reached over SSH."),
        "modal": ("Modal", "Runs commands and stores files in a Modal sandbox."),
        "daytona": ("Daytona", "Runs commands and stores files in a Daytona sandbox."),
        "vercel": ("Vercel", "Runs commands and stores files in a Vercel sandbox."),
    }
)
DURING_TURN: Final[Mapping[str, Label]] = MappingProxyType(
    {
        "queue": ("Queue", "A message sent while the agent works is answered after the current turn."),
        "steer": ("Steer", "A message sent while the agent works reaches it at its next step."),
    }
)
DEFAULT_EFFORT: Final[Label] = ("Default", "The model's own default.")
EFFORTS: Final[Mapping[str, Label]] = MappingProxyType(
    {
        "none": ("Off", "No reasoning before the answer."),
        "minimal": ("Minimal", ""),
        "low": ("Low", ""),
        "medium": ("Medium", ""),
        "high": ("High", ""),
        "xhigh": ("Extra high", ""),
        "max": ("Maximum", ""),
    }
)


def model_provider(provider: str) -> str:
    """Describe a model if there are several providers."""
    return f"From {provider}"
