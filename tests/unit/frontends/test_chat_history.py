"""The chat's history of typed input."""

import random
from pathlib import Path

from hermes_acp.frontends.chat.input.prompt_history import PromptHistory
from tests.unit.telemetry import secret_samples as samples

TOKEN = dict(samples.tokens(random.Random(71)))["github token"]


def test_typed_keys_are_masked_in_the_history_of_a_folder(tmp_path: Path) -> None:
    PromptHistory(tmp_path, "/w").store_string(f"use {TOKEN}, please")
    kept = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept
    assert list(PromptHistory(tmp_path, "/w").load_history_strings()) == [
        "use [secret: github token], please"
    ]
