"""`voice:` in a settings file."""

from typing import Final, Literal

from pydantic import Field

from hermes_acp.config.settings_section import ProviderName, Section

PROVIDER_MODEL: Final = "gpt-4o-mini-transcribe"
LOCAL_MODEL: Final = "small"


class VoiceSettings(Section):
    """Spoken prompts."""

    transcription: Literal["off", "provider", "faster_whisper"] = "off"
    """What transcribes speech: nothing, the endpoint of a provider that speaks OpenAI's format, or a model on this
    machine.
    """
    provider: ProviderName | None = None
    """Provider of the transcription. Default: the current provider."""
    model: str | None = Field(default=None, min_length=1)
    """Model for transcriptions. For `faster_whisper`: its name, or the path of its folder. Default:
    `gpt-4o-mini-transcribe` for `provider`, `small` for `faster_whisper`.
    """
    language: str | None = Field(default=None, pattern=r"^[a-z]{2,3}$")
    """Language of the speech, such as `de`. Default: detected by the model."""
    device: Literal["cpu", "cuda"] = "cpu"
    """Where `faster_whisper` runs: on the processor, or on an NVIDIA graphics card."""

    @property
    def chosen_model(self) -> str:
        """The configured model, or the default for the configured kind of transcription."""
        return self.model or (LOCAL_MODEL if self.transcription == "faster_whisper" else PROVIDER_MODEL)
