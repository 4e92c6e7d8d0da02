"""Convert recordings to text, using the provider in the settings."""

from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.config.speech_offer import offers_speech
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.model_ports import Recording, Transcriber
from hermes_acp.models.transcription.transcriber_setup import TranscriberFactory, TranscriberSetup

if TYPE_CHECKING:
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings

MAX_BYTES: Final = 20 * 1024 * 1024
"""OpenAI's endpoint accepts 25 MB, but this is the most that fits, as base64, into a client's message."""
SILENCE_HZ: Final = 16_000
NOT_SET_UP: Final = "Speech cannot be transcribed, because no transcription is set up."
SET_UP_HINT: Final = "Write the prompt as text, or set voice.transcription in config.yaml."
TOO_LONG: Final = "The recording has {size:,} bytes; the maximum is {most:,}."
TOO_LONG_HINT: Final = "Make a shorter recording."
NOTHING_SAID: Final = "No words were found in the recording."
SAY_AGAIN_HINT: Final = "Record it again, or write the prompt as text."
TRANSCRIBERS: Final[PluginFolder[TranscriberFactory]] = PluginFolder(
    "hermes_acp.models.transcription.transcribers", "TRANSCRIBER"
)


class VoiceService:
    """The transcription service of a process. The settings are read again for each recording."""

    def __init__(
        self, environment: Environment, read: "Callable[[], tuple[Settings, ModelChoice | None]]"
    ) -> None:
        """Store the arguments; nothing is loaded yet.

        `read` blocks and returns the settings and the model that answers the user.
        """
        self._environment = environment
        self._read = read
        self._transcriber: Transcriber | None = None
        self._made_of: object = None
        self._choosing = anyio.Lock()

    def is_offered(self) -> bool:
        """Return whether the settings name a transcription provider. Blocks briefly."""
        return offers_speech(self._environment)

    async def check(self) -> str:
        """Check that speech can be transcribed, without contacting other machines.

        Returns the transcriber's name, or an empty string if none is configured. Raises ConfigError, AuthRequired or
        ModelError.
        """
        settings, _ = await run_sync(self._read)
        if settings.voice.transcription == "off":
            return ""
        transcriber = await self._chosen()
        await transcriber.check()
        return transcriber.name

    async def try_out(self) -> str:
        """Transcribe a short silent recording, even if the endpoint is on another machine.

        Returns the transcriber's name, or an empty string if none is configured. Raises ConfigError, AuthRequired or
        ModelError.
        """
        if name := await self.check():
            await (await self._chosen()).transcribe(Recording(_silence(), "audio/wav"))
        return name

    async def transcribe(self, recording: Recording) -> str:
        """Return a recording's text. Raises BadRequest, ConfigError, AuthRequired or ModelError."""
        if len(recording.content) > MAX_BYTES:
            raise BadRequest(TOO_LONG.format(size=len(recording.content), most=MAX_BYTES), hint=TOO_LONG_HINT)
        text = await (await self._chosen()).transcribe(recording)
        if not text:
            raise BadRequest(NOTHING_SAID, hint=SAY_AGAIN_HINT)
        return text

    async def aclose(self) -> None:
        """Release resources."""
        if self._transcriber:
            await self._transcriber.aclose()

    async def _chosen(self) -> Transcriber:
        async with self._choosing:
            settings, choice = await run_sync(self._read)
            wanted = settings.voice, settings.providers, choice
            if self._transcriber is None or self._made_of != wanted:
                fresh = await run_sync(self._open, settings, choice)
                await self.aclose()
                self._transcriber, self._made_of = fresh, wanted
            return self._transcriber

    def _open(self, settings: "Settings", choice: "ModelChoice | None") -> Transcriber:
        if settings.voice.transcription == "off":
            raise BadRequest(NOT_SET_UP, hint=SET_UP_HINT)
        return open_transcriber(TranscriberSetup(self._environment, settings, choice))


def _silence() -> bytes:
    """Return a WAV file with 0.2 s of silence; OpenAI's endpoint refuses less than 0.1 s."""
    import wave

    file = BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(SILENCE_HZ)
        sound.writeframes(bytes(2 * SILENCE_HZ // 5))
    return file.getvalue()


def open_transcriber(setup: TranscriberSetup) -> Transcriber:
    """Return the configured transcriber; the setting must not be "off". Blocks. Raises ConfigError or AuthRequired."""
    return TRANSCRIBERS.open(setup.settings.voice.transcription)(setup)
