"""Transcribe with a Whisper model on this machine, using the package faster-whisper."""

from typing import Final

from hermes_acp.config.speech_models import speech_model
from hermes_acp.core.ports.model_ports import Transcriber
from hermes_acp.models.transcription.local_transcription import LocalTranscriber
from hermes_acp.models.transcription.transcriber_setup import TranscriberSetup


def open_local(setup: TranscriberSetup) -> Transcriber:
    """Return the transcriber for the model that the settings name. Raises ConfigError if it is not on this machine."""
    voice = setup.settings.voice
    return LocalTranscriber(speech_model(setup.environment.home, voice), voice.device, voice.language)


TRANSCRIBER: Final = open_local
