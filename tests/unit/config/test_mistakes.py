"""A settings file that is wrong is told so in a person's words."""

from typing import Any

import pytest
from pydantic import ValidationError

from hermes_acp.config.settings import Settings
from hermes_acp.config.settings_errors import describe_settings_errors

TABLE: tuple[tuple[dict[str, Any], str], ...] = (
    ({"modell": "x"}, "`modell` is no setting; did you mean `model`?"),
    ({"budget": {"max_step": 3}}, "`budget.max_step` is no setting; did you mean `max_steps`?"),
    ({"nothing_like_it": 1}, "`nothing_like_it` is no setting."),
    ({"mode": "yolo"}, "`mode` must be 'ask', 'accept_edits', 'plan', 'auto' or 'bypass', and is 'yolo'."),
    ({"budget": {"max_steps": "many"}}, "`budget.max_steps` must be a whole number."),
    ({"budget": {"max_steps": 0}}, "`budget.max_steps` must be at least 1, and is 0."),
    ({"budget": {"timeout_s": 0}}, "`budget.timeout_s` must be more than 0, and is 0."),
    ({"budget": 3}, "`budget` must be `name: value` lines."),
    ({"model": 3}, "`model` must be text; put it in quotation marks."),
    ({"compaction": {"at": 0.2, "keep": 0.2}}, "`compaction`: keep must be at most half of at."),
)


@pytest.mark.parametrize(("written", "told"), TABLE)
def test_each_kind_of_mistake(written: dict[str, Any], told: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate(written)
    assert describe_settings_errors(caught.value, Settings) == told


def test_what_may_be_a_secret_is_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"mode": "sk-proj-0123456789abcdefghij"})
    assert "sk-proj" not in describe_settings_errors(caught.value, Settings)


def test_many_mistakes_are_counted() -> None:
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({f"x{number}": 1 for number in range(9)})
    assert describe_settings_errors(caught.value, Settings).endswith("; and 4 more.")
