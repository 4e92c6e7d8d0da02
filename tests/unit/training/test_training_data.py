"""Training data is accepted only from an export that matches its manifest; every line is checked."""

from pathlib import Path
from typing import Any

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.training.training_data import check_data, read_records
from tests.training_home import CONVERSATION, TrainingHome

ANSWER = [{"role": "assistant", "content": "x"}]
PAIR = {"prompt": [{"role": "user", "content": "x"}], "chosen": ANSWER, "rejected": ANSWER}


@pytest.fixture
def home(tmp_path: Path) -> TrainingHome:
    return TrainingHome(tmp_path)


def refusal(home: TrainingHome, method: str = "sft") -> str:
    with pytest.raises(BadRequest) as caught:
        check_data(str(home.data), method)
    return caught.value.sentence()


def test_an_export_is_accepted(home: TrainingHome) -> None:
    home.write_data([CONVERSATION, CONVERSATION])
    found = check_data(str(home.data), "sft")
    assert (found.records, found.sessions, found.models) == (2, 1, ("scripted-large",))
    assert len(read_records(found.path, found.sha256, "sft")) == 2
    home.write_data([PAIR], form="dpo")
    assert check_data(str(home.data), "dpo").records == 1


def test_data_without_its_manifest_is_rejected(home: TrainingHome) -> None:
    home.data.write_text("{}\n")
    assert "has no manifest" in refusal(home)
    home.write_data([CONVERSATION])
    home.data.write_text(home.data.read_text() * 2)
    assert "is not the file that its manifest describes" in refusal(home)
    home.write_manifest(program="other 1")
    assert "does not say how secrets and names were replaced" in refusal(home)
    home.write_manifest(redaction="")
    assert "does not say how secrets and names were replaced" in refusal(home)
    home.write_manifest("sharegpt")
    assert "was exported as sharegpt, and this method needs messages" in refusal(home)
    home.write_manifest("messages")
    assert "needs dpo" in refusal(home, "dpo")


def test_data_changed_after_confirmation_is_not_read(home: TrainingHome) -> None:
    home.write_data([CONVERSATION])
    found = check_data(str(home.data), "sft")
    home.write_data([CONVERSATION, CONVERSATION])
    with pytest.raises(BadRequest, match="has changed since"):
        read_records(found.path, found.sha256, "sft")


@pytest.mark.parametrize(
    ("record", "method", "reported"),
    [
        ([], "sft", "line 2: not a JSON object"),
        ({}, "sft", "line 2: `messages` must be a list of messages"),
        ({"messages": [1]}, "sft", "line 2: `messages[0]` must be an object"),
        ({"messages": [{"role": "x", "content": ""}]}, "sft", "line 2: `messages[0]` must have a `role`"),
        ({"messages": [{"role": "user", "content": 1}]}, "sft", "line 2: `messages[0]` must have text"),
        ({"messages": [{"role": "user", "content": ""}]}, "sft", "line 2: `messages` has no answer"),
        ({"messages": ANSWER, "tools": {}}, "sft", "line 2: `tools` must be a list"),
        ({**PAIR, "chosen": []}, "dpo", "line 2: `chosen` must be a list of messages"),
    ],
)
def test_an_invalid_line_is_named(home: TrainingHome, record: Any, method: str, reported: str) -> None:
    good = CONVERSATION if method == "sft" else PAIR
    home.write_data([good, record], form="messages" if method == "sft" else "dpo")
    assert reported in refusal(home, method)


def test_data_without_records_is_rejected(home: TrainingHome) -> None:
    home.write_data([])
    assert "contains no record" in refusal(home)
