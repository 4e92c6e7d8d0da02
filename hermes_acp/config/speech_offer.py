"""Determine whether spoken prompts are accepted, without reading the settings unless speech is set up."""

import re
from typing import Final

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings_text import read_text
from hermes_acp.core.errors import ConfigError

SECTION: Final = re.compile(r"^[\"']?voice\b", re.MULTILINE)


def offers_speech(environment: Environment) -> bool:
    """Return whether this process can transcribe speech. Blocks briefly."""
    try:
        if not SECTION.search(read_text(environment.config_file)):
            return False
        from hermes_acp.config.settings import load_settings
        from hermes_acp.config.speech_models import speech_model

        voice = load_settings(environment).voice
        if voice.transcription == "faster_whisper":
            speech_model(environment.home, voice)
        return voice.transcription != "off"
    except ConfigError:
        return False  # the error is reported where the settings are needed
