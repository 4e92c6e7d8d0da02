"""Find errors in the settings file, with their positions."""

from typing import TYPE_CHECKING, cast

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings_text import read_text
from hermes_acp.core.errors import ConfigError

if TYPE_CHECKING:
    from pydantic import ValidationError


class SettingsProblem(Struct, frozen=True):
    """A problem in the settings: a sentence with its location, and the setting's path (empty for the whole file)."""

    sentence: str
    path: tuple[str | int, ...] = ()


def check_settings(environment: Environment, text: str | None = None) -> tuple[SettingsProblem, ...]:
    """Return all problems in the settings file, or in a text that is about to replace it."""
    from pydantic import ValidationError

    from hermes_acp.config.settings import Settings, parse_settings

    file = environment.config_file
    content = text or ""
    try:
        content = read_text(file) if text is None else text
        Settings.model_validate(parse_settings(content, str(file)))
    except ConfigError as error:
        return (SettingsProblem(error.message),)
    except ValidationError as error:
        return _problems(error, content)
    return ()


def _problems(error: "ValidationError", content: str) -> tuple[SettingsProblem, ...]:
    from hermes_acp.config.settings import Settings
    from hermes_acp.config.settings_errors import describe_mistake, place_of
    from hermes_acp.config.yaml_text import line_of

    found: list[SettingsProblem] = []
    for mistake in error.errors(include_url=False):
        path = tuple(place_of(cast("dict[str, object]", mistake)))
        sentence = (
            f"Line {line_of(content, path)}: {describe_mistake(cast('dict[str, object]', mistake), Settings)}"
        )
        found.append(SettingsProblem(sentence if sentence.endswith("?") else f"{sentence}.", path))
    return tuple(found)
