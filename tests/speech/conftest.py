"""A Whisper model, created once per test run, and a sound for it to transcribe."""

from pathlib import Path

import pytest

from tests.conversations.app_scene import Scene
from tests.speech.sounds import speech, wav
from tests.speech.whisper_model import SAID, make_whisper


@pytest.fixture(scope="session")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_whisper(tmp_path_factory.mktemp("whisper") / "little", SAID)


@pytest.fixture(scope="session")
def note() -> bytes:
    """Return a WAV file with 30 s of speech."""
    return wav(speech(30))


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path.resolve())
