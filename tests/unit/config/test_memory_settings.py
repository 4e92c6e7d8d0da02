"""There is at most one memory service, and recall by meaning only if it was configured."""

from pathlib import Path

import pytest

from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings import Settings, load_settings
from hermes_acp.core.errors import ConfigError


def loaded(home: Path, content: str) -> Settings:
    (home / "config.yaml").write_text(content, encoding="utf-8")
    return load_settings(environment_of({"HERMES_HOME": str(home)}))


def test_a_service_is_configured_by_name_or_with_settings(tmp_path: Path) -> None:
    short = loaded(tmp_path, "memory: {service: honcho}").memory.service
    assert short
    assert (short.provider, short.in_headless) == ("honcho", False)
    long = loaded(
        tmp_path, "memory: {service: {provider: mem0, user: ada, in_headless: true}}"
    ).memory.service
    assert long
    assert (long.provider, long.user, long.in_headless) == ("mem0", "ada", True)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("memory: {service: [honcho, mem0]}", "one service"),
        ("memory: {service: memgpt}", "must be one of hindsight, honcho, mem0, supermemory"),
        ("memory: {service: {provider: mem0, user: ../ada}}", "user"),
        ("recall: {embeddings: provider}", "needs the model's name"),
        ("recall: {embeddings: hub}", "recall.embeddings"),
    ],
)
def test_invalid_settings_are_rejected(tmp_path: Path, content: str, sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        loaded(tmp_path, content)


def test_nothing_is_sent_to_a_service_unless_configured() -> None:
    assert Settings().recall.embeddings == "off"
    assert Settings().memory.service is None
