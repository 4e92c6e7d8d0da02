"""Errors in a settings file are reported in plain words."""

import json
import re
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from hermes_acp.config.sections import backend_settings
from hermes_acp.config.settings import Settings
from hermes_acp.config.settings_errors import PATTERNS, describe_settings_errors

TABLE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"modell": "x"}, "`modell` is not a setting; did you mean `model`?"),
    ({"budget": {"max_step": 3}}, "`budget.max_step` is not a setting; did you mean `max_steps`?"),
    ({"nothing_like_it": 1}, "`nothing_like_it` is not a setting."),
    ({"mode": "yolo"}, "`mode` must be 'ask', 'accept_edits', 'plan', 'auto' or 'bypass', not 'yolo'."),
    ({"budget": {"max_steps": "many"}}, "`budget.max_steps` must be a whole number."),
    ({"budget": {"max_steps": 0}}, "`budget.max_steps` must be at least 1, not 0."),
    ({"budget": {"timeout_s": 0}}, "`budget.timeout_s` must be more than 0, not 0."),
    (
        {"web": {"search": {"provider": "searxng", "base_url": "x"}}},
        "`web.search.base_url` must be a URL starting with http:// or https://.",
    ),
    ({"budget": 3}, "`budget` must be `name: value` lines."),
    ({"model": 3}, "`model` must be text; put it in quotation marks."),
    ({"compaction": {"at": 0.2, "keep": 0.2}}, "`compaction`: keep must be at most half of at."),
)


@pytest.mark.parametrize(("written", "reported"), TABLE)
def test_each_kind_of_mistake(written: dict[str, Any], reported: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(written)
    assert describe_settings_errors(caught.value, Settings) == reported


def test_every_pattern_is_described_in_words() -> None:
    models = (Settings, *(each for each in vars(backend_settings).values() if isinstance(each, type)))
    patterns = {
        pattern
        for model in models
        if issubclass(model, BaseModel)
        for pattern in re.findall(r'"pattern":\s*("(?:[^"\\]|\\.)*")', json.dumps(model.model_json_schema()))
    }
    assert {json.loads(pattern) for pattern in patterns} <= set(PATTERNS)


def test_values_that_may_be_secret_are_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"mode": "sk-proj-0123456789abcdefghij"})
    assert "sk-proj" not in describe_settings_errors(caught.value, Settings)


def test_many_mistakes_are_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({f"x{number}": 1 for number in range(9)})
    assert describe_settings_errors(caught.value, Settings).endswith("; and 4 more.")
