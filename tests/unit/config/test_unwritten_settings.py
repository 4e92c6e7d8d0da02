"""Defaults are not validated, because valid defaults need no check."""

from pathlib import Path

from hermes_acp.config.environment import environment_of
from hermes_acp.config.settings import Settings, load_settings


def test_validating_empty_settings_gives_the_defaults() -> None:
    assert Settings.defaults() == Settings.model_validate({})


def test_every_default_is_valid() -> None:
    usual = Settings.defaults()
    assert Settings.model_validate(usual.model_dump()) == usual


def test_without_a_file_the_defaults_apply_and_count_as_unset(tmp_path: Path) -> None:
    settings = load_settings(environment_of({"HERMES_HOME": str(tmp_path)}))
    assert settings == Settings.defaults()
    assert settings.model_fields_set == set()


def test_a_flag_is_validated_without_a_file_too(tmp_path: Path) -> None:
    settings = load_settings(environment_of({"HERMES_HOME": str(tmp_path)}), {"budget.max_steps": 3})
    assert settings.budget.max_steps == 3
    assert settings.budget.max_refunds == Settings.defaults().budget.max_refunds
