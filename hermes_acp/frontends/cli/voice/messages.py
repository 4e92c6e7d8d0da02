"""Messages of `hermes-acp voice`."""

from typing import Final

STATUS_HELP: Final = "show how speech is transcribed, and test it with 0.2 s of silence (the default)"
DOWNLOAD_HELP: Final = (
    "download a Whisper model from the Hugging Face Hub, for `transcription: faster_whisper`"
)
NAME_HELP: Final = (
    "its name, such as small or Systran/faster-whisper-small (default: the one in the settings)"
)
TRANSCRIBE_HELP: Final = "print what is said in a recording"
FILE_HELP: Final = "the recording, such as a WAV, Ogg, WebM, MP3, FLAC or M4A file"
OFF: Final = "Spoken prompts are off. docs/voice.md shows how to set them up."
NOT_A_NAME: Final = "The settings name a folder, so there is nothing to download."
NAME_HINT: Final = "To download a model, name it: `hermes-acp voice download small`."


def in_use(name: str) -> str:
    """Say what transcribes speech, and that a test succeeded."""
    return f"Spoken prompts are transcribed by {name}. A test with a silent recording worked."


def download_begins(repository: str, megabytes: float, folder: str) -> str:
    """Say what is downloaded, its size, and where it is stored."""
    return f"Downloading {repository} ({megabytes:,.0f} MB) to {folder}"


def downloaded(folder: str) -> str:
    """Say that a model was downloaded."""
    return f"The model is in {folder}."


def already_there(folder: str) -> str:
    """Say that nothing needs to be downloaded."""
    return f"The model is already in {folder}. Remove that folder to download it again."


def set_it(model: str) -> str:
    """Return the settings that use a model."""
    return f"To use it, add to config.yaml: voice: {{transcription: faster_whisper, model: {model}}}"


def unreadable_file(file: str, reason: str) -> str:
    """Return the error for a recording that cannot be read."""
    return f"{file} cannot be read: {reason}."
