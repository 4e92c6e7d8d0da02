"""Hermes in JupyterLab's chat: for `.jupyter/personas/` of the folder that JupyterLab is started in."""

from pathlib import Path
from typing import Any

from jupyter_ai_acp_client.base_acp_persona import BaseAcpPersona
from jupyter_ai_persona_manager import PersonaDefaults


class HermesPersona(BaseAcpPersona):
    """The coding agent hermes-acp; its chats share one process, and each has its own session."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, executable=["hermes-acp"], **kwargs)

    @property
    def defaults(self) -> PersonaDefaults:
        """Return how it is displayed."""
        return PersonaDefaults(
            name="Hermes",
            description="The coding agent hermes-acp",
            avatar_path=str(Path(__file__).with_name("icon.svg")),
            system_prompt="",
        )
