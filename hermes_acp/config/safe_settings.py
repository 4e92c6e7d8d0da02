"""The settings that a client may change: limits, sizes and preferences.

None of them lets the agent do, access or read more. Modes, rules, hosts, commands, keys and folders can be changed only
by those who can write the settings file.
"""

import re
from collections.abc import Mapping
from typing import Any, Final, Literal, cast

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings import MEND_HINT, Settings, parse_settings
from hermes_acp.config.settings_check import check_settings
from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import YamlScalar, with_value
from hermes_acp.core.errors import BadRequest, ConfigError

Kind = Literal["integer", "number", "choice"]
SAFE_SETTINGS: Final = (
    "titles",
    "questions.without_clients",
    "questions.timeout_s",
    "budget.max_steps",
    "budget.max_tokens",
    "budget.max_cost_usd",
    "budget.timeout_s",
    "max_output_tokens",
    "window_tokens",
    "compaction.at",
    "compaction.keep",
    "delegation.max_parallel",
    "delegation.max_children",
    "delegation.max_steps",
)
NONE: Final = ""
NOT_CHANGEABLE: Final = "A client cannot change the setting {name!r}."
NOT_CHANGEABLE_HINT: Final = "Change it in {file}."
_LINE: Final = re.compile(r"^Line \d+: ")


class SafeSetting(Struct, frozen=True):
    """A setting that a client may change, with its value as text (empty if none).

    `is_set` means that the settings file contains it.
    """

    name: str
    kind: Kind
    value: str
    fallback: str
    choices: tuple[str, ...]
    is_set: bool


def read_safe_settings(environment: Environment) -> tuple[SafeSetting, ...]:
    """Read the settings that a client may change from the settings file. Blocks. Raises ConfigError."""
    file = environment.config_file
    plain = parse_settings(read_text(file), str(file))
    if problems := check_settings(environment):
        raise ConfigError(f"{file}: {problems[0].sentence}", hint=MEND_HINT)
    settings, defaults = Settings.model_validate(plain), Settings.defaults()
    schema = Settings.model_json_schema()
    return tuple(_setting(name, plain, settings, defaults, _shape(schema, name)) for name in SAFE_SETTINGS)


def changed_settings(environment: Environment, name: str, value: str) -> str:
    """Return the text of the settings file with one such setting changed; an empty value removes it. Blocks.

    Comments and everything else are kept. Raises BadRequest for any other setting or an invalid value, and ConfigError
    if the file is already invalid.
    """
    file = environment.config_file
    if name not in SAFE_SETTINGS:
        raise BadRequest(
            NOT_CHANGEABLE.format(name=name[:60]), hint=NOT_CHANGEABLE_HINT.format(file=str(file))
        )
    if problems := check_settings(environment):
        raise ConfigError(f"{file}: {problems[0].sentence}", hint=MEND_HINT)
    kind = _kind(_shape(Settings.model_json_schema(), name))
    text = with_value(read_text(file), tuple(name.split(".")), _parsed(value.strip(), kind))
    if problems := check_settings(environment, text):
        raise BadRequest(_LINE.sub("", problems[0].sentence))
    return text


def _setting(
    name: str, plain: Mapping[str, Any], settings: Settings, defaults: Settings, shape: Mapping[str, Any]
) -> SafeSetting:
    kind = _kind(shape)
    choices = tuple(shape["enum"]) if kind == "choice" else ()
    written: object = plain
    for key in name.split("."):
        written = cast("dict[str, object]", written).get(key) if isinstance(written, dict) else None
    value, fallback = (_text(_value(each, name)) for each in (settings, defaults))
    return SafeSetting(name, kind, value, fallback, choices, written is not None)


def _value(settings: Settings, name: str) -> object:
    found: object = settings
    for key in name.split("."):
        found = getattr(found, key)
    return found


def _text(value: object) -> str:
    return NONE if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _shape(schema: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Return a setting's JSON schema without the null alternative."""
    shape = schema
    for key in name.split("."):
        shape = shape["properties"][key]
        if reference := shape.get("$ref"):
            shape = schema["$defs"][reference.rpartition("/")[2]]
    return next((each for each in shape.get("anyOf", ()) if each.get("type") != "null"), shape)


def _kind(shape: Mapping[str, Any]) -> Kind:
    return "choice" if "enum" in shape else cast("Kind", shape["type"])


def _parsed(value: str, kind: Kind) -> YamlScalar | None:
    """Parse a text as a number or Boolean if possible; other text is returned unchanged and fails validation."""
    if not value:
        return None
    try:
        return int(value) if kind == "integer" else float(value) if kind == "number" else value
    except ValueError:
        return value
