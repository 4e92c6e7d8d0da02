"""Hermes in JupyterLab's chat; copy this file to `.jupyter/personas/` in the folder where JupyterLab is started."""

from pathlib import Path
from typing import Any

from jupyter_ai_acp_client.base_acp_persona import BaseAcpPersona
from jupyter_ai_persona_manager import PersonaDefaults


class HermesPersona(BaseAcpPersona):
    """The coding agent hermes-acp. Its chats share one process, and each chat has its own session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, executable=["hermes-acp"], **kwargs)

    @property
    def defaults(self) -> PersonaDefaults:
        """Return the persona's display properties."""
        return PersonaDefaults(
            name="Hermes",
            description="The coding agent hermes-acp",
            avatar_path=str(Path(__file__).with_name("icon.svg")),
            system_prompt="",
        )
