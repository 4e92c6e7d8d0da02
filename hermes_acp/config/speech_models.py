"""Find the speech model that the settings name, and report what is missing.

Models are in CTranslate2's format. Models given by name are in the home folder, where only `hermes-acp voice download`
puts them.
"""

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from hermes_acp.config.sections.voice_settings import VoiceSettings

PACKAGE: Final = "faster_whisper"
EXTRA: Final = "voice"
FOLDER: Final = "speech-models"
NEEDED_FILES: Final = ("model.bin", "config.json", "tokenizer.json")
"""The files that a model needs; without the tokenizer, faster-whisper would download one."""
VOCABULARY: Final = "vocabulary.*"
NAME: Final = re.compile(r"[A-Za-z0-9][\w.-]*(?:/[A-Za-z0-9][\w.-]*)?")
REPOSITORIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        **{
            name: f"Systran/faster-whisper-{name}"
            for name in (
                *("tiny", "tiny.en", "base", "base.en", "small", "small.en", "medium", "medium.en"),
                *("large-v1", "large-v2", "large-v3"),
            )
        },
        "large": "Systran/faster-whisper-large-v3",
        "turbo": "mobiuslabsgmbh/faster-whisper-large-v3-turbo",
    }
)
"""The Hugging Face Hub repositories of models, by the names in common use."""


def repository_of(model: str) -> str:
    """Return the repository for a model name. Raises ConfigError for an unknown name."""
    repository = REPOSITORIES.get(model, model)
    if "/" not in repository or not NAME.fullmatch(repository):
        raise ConfigError(
            f"There is no speech model {model!r}.",
            hint=f"Known names: {', '.join(REPOSITORIES)}. Others are named like Systran/faster-whisper-small.",
        )
    return repository


def is_folder(model: str) -> bool:
    """Return whether a model is given as the path of its folder."""
    return model.startswith(("/", "~"))


def speech_model_folder(home: Path, model: str) -> Path:
    """Return the folder where a model is, or to which it would be downloaded.

    Raises ConfigError for an unknown name.
    """
    if is_folder(model):
        return Path(model).expanduser()
    return home / FOLDER / repository_of(model).replace("/", "--")


def speech_model(home: Path, voice: "VoiceSettings") -> Path:
    """Return the folder of the model that the settings name.

    Raises ConfigError if it cannot be used. Blocks briefly.
    """
    if find_spec(PACKAGE) is None:
        from hermes_acp.config.installation import extra_hint

        raise ConfigError(
            "`voice.transcription` is faster_whisper, but its packages are not installed.",
            hint=extra_hint(EXTRA),
        )
    model = voice.chosen_model
    folder = speech_model_folder(home, model)
    try:
        missing = missing_file(folder)
    except OSError as error:
        raise ConfigError(f"The speech model in {folder} cannot be read: {error.strerror}.") from None
    if not missing:
        return folder
    if not is_folder(model):
        raise ConfigError(
            f"The speech model {model!r} is not on this machine.",
            hint=f"Run `hermes-acp voice download {model}`.",
        )
    hint = "Name the folder of a Whisper model in CTranslate2's format, or a name such as small."
    if not folder.is_dir():
        raise ConfigError(f"`voice.model` names {folder}, which is not a folder.", hint=hint)
    raise ConfigError(f"`voice.model` names {folder}, which does not contain {missing}.", hint=hint)


def missing_file(folder: Path) -> str:
    """Return the first of a model's files that a folder lacks, or an empty string. Raises OSError."""
    for name in NEEDED_FILES:
        if not (folder / name).is_file():
            return name
    return "" if any(folder.glob(VOCABULARY)) else "vocabulary.json"
