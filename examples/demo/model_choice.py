"""Choose the demo's model: the configured one, a detected local one, or else the embedded one."""

from typing import Literal

import anyio
from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.model_choice import choose_model
from hermes_acp.config.settings import load_settings, load_variables
from hermes_acp.models.wire.local_detection import detect_local


class Choice(Struct, frozen=True):
    """The source of the model, and its display name."""

    source: Literal["configured", "detected", "none"]
    name: str = ""


async def find_model(user: Environment) -> Choice:
    """Choose the model as the server does: the configured one, or one that runs on this machine. Raises ConfigError."""

    def read() -> Choice | None:
        chosen = choose_model(load_settings(user), load_variables(user))
        if chosen is None:
            return None
        return Choice("configured", f"{chosen.model or 'the default model'} at {chosen.base_url}")

    if (configured := await anyio.to_thread.run_sync(read)) is not None:
        return configured
    if (found := await detect_local()) is not None:
        return Choice("detected", f"{found.model} served by {found.name}")
    return Choice("none")
