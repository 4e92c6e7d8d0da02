"""The inputs from which a transcription plugin creates its transcriber."""

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.model_ports import Transcriber

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings


class TranscriberSetup(Struct, frozen=True):
    """The settings, and the model that answers the user."""

    environment: Environment
    settings: "Settings"
    choice: "ModelChoice | None"


class TranscriberFactory(Protocol):
    """Creates the transcriber for one value of `voice.transcription`."""

    def __call__(self, setup: TranscriberSetup, /) -> Transcriber:
        """Return the transcriber. Blocks. Raises ConfigError or AuthRequired."""
        ...
