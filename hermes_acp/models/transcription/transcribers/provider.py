"""Transcribe with a provider's endpoint."""

from typing import Final

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.ports.model_ports import Transcriber
from hermes_acp.models.transcription.transcriber_setup import TranscriberSetup

NO_PROVIDER: Final = "`voice.transcription` is `provider`, but no provider is set up."
NO_PROVIDER_HINT: Final = "Set voice.provider."
OTHER_PROVIDER_HINT: Final = "Name another provider with voice.provider."


def open_endpoint(setup: TranscriberSetup) -> Transcriber:
    """Return the transcriber of the configured provider, or of the one in use. Raises ConfigError or AuthRequired."""
    from hermes_acp.config.settings import load_variables
    from hermes_acp.models.transcription.endpoint_transcription import EndpointTranscriber
    from hermes_acp.models.wire.chosen_endpoint import choice_of, openai_endpoint

    section, choice = setup.settings.voice, setup.choice
    if section.provider:
        choice = choice_of(setup.settings, load_variables(setup.environment), section.provider)
    if choice is None:
        raise ConfigError(NO_PROVIDER, hint=NO_PROVIDER_HINT)
    endpoint = openai_endpoint(setup.settings, choice, purpose="transcriptions", hint=OTHER_PROVIDER_HINT)
    return EndpointTranscriber(endpoint, section.chosen_model, section.language)


TRANSCRIBER: Final = open_endpoint
