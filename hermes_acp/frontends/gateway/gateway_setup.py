"""Set up a platform: ask for its settings, validate them, and add them to `config.yaml`; secrets go into `.env`."""

import getpass
import inspect
import sys
from collections.abc import Mapping
from types import UnionType
from typing import Any, Final, cast, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.gateway_settings import GatewaySettings, PlatformsSettings, secret_variable
from hermes_acp.config.settings import Settings, load_settings, load_variables, parse_settings
from hermes_acp.config.settings_errors import describe_mistake, describe_settings_errors
from hermes_acp.config.settings_section import field_meanings
from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import YamlScalar, YamlValue, with_value
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.gateway.gateway_process import needed_variables, platform_plugins
from hermes_acp.frontends.gateway.messages import command_messages
from hermes_acp.storage.private_files import write_private_text

SECTION: Final = "gateway"
WORKSPACE: Final = "workspace"


def set_up(environment: Environment, platform: str) -> int:
    """Ask for a platform's settings and write them. Raises BadRequest, ConfigError or StorageError."""
    file = environment.config_file
    settings = load_settings(environment)
    if getattr(settings.gateway.platforms, platform) is not None:
        raise BadRequest(command_messages.already_set_up(platform, str(file)))
    section = _section(platform)
    _say(inspect.cleandoc(section.__doc__ or ""))
    text = read_text(file)
    for name, value in (_answers(section) or _first_default(section)).items():
        text = with_value(text, (SECTION, "platforms", platform, name), value)
    if settings.gateway.workspace is None and (folder := _ask_for(GatewaySettings, WORKSPACE)) is not None:
        text = with_value(text, (SECTION, WORKSPACE), folder)
    checked = _check(text, str(file))
    secrets = _secrets(environment, platform)
    write_private_text(file, text)
    if kept := {name: value for name, value in secrets.items() if value}:
        before = read_text(environment.secrets_file)
        lines = "".join(f"{name}='{value}'\n" for name, value in kept.items())
        separator = "" if not before or before.endswith("\n") else "\n"
        write_private_text(environment.secrets_file, f"{before}{separator}{lines}")
    needed = needed_variables(platform, getattr(checked.gateway.platforms, platform))
    missing = [name for name in needed if secrets.get(name) == ""]
    _say(command_messages.settings_written(str(file), missing, environment.profile))
    return ExitCode.DONE


def _section(platform: str) -> type[BaseModel]:
    annotation = PlatformsSettings.model_fields[platform].annotation
    assert isinstance(annotation, UnionType), "each platform's section is optional"
    return next(each for each in get_args(annotation) if each is not type(None))


def _answers(section: type[BaseModel]) -> dict[str, YamlValue]:
    """Ask for each setting, except for service addresses that have a default."""
    asked = {
        name: _ask_for(section, name)
        for name, field in section.model_fields.items()
        if "://" not in str(field.default)
    }
    return {name: value for name, value in asked.items() if value is not None}


def _first_default(section: type[BaseModel]) -> dict[str, YamlValue]:
    """Return the first setting with its default value, because a section needs at least one entry."""
    name, field = next(iter(section.model_fields.items()))
    return {name: field.default}


def _ask_for(section: type[BaseModel], name: str) -> YamlValue | None:
    """Ask for a setting until its value is valid; return None to use the default."""
    field = section.model_fields[name]
    is_required, is_list = field.is_required(), isinstance(field.default, tuple)
    default = None if is_required or is_list else field.default
    meaning = field_meanings(section).get(name, "")
    if is_list:
        prompt = command_messages.list_prompt(name, meaning)
    else:
        prompt = command_messages.setting_prompt(name, meaning, default, is_required=is_required)
    while True:
        line = _read(prompt)
        answer = line.strip()
        if not answer and not is_required:
            return None
        wrong = _mistake_in(field, name, answer) if answer else command_messages.value_missing(name)
        if not wrong:
            value = TypeAdapter[Any](field.rebuild_annotation()).validate_python(_parsed(field, answer))
            return [*cast("tuple[str, ...]", value)] if is_list else cast("YamlScalar", value)
        if not line or not sys.stdin.isatty():
            raise BadRequest(f"{wrong} {command_messages.FILE_NOT_WRITTEN}")
        _say(wrong)


def _parsed(field: FieldInfo, answer: str) -> YamlValue:
    """Split an answer at its commas if the setting is a list."""
    if not isinstance(field.default, tuple):
        return answer
    return [word for each in answer.split(",") if (word := each.strip())]


def _mistake_in(field: FieldInfo, name: str, answer: str) -> str:
    """Return what is wrong with a value, or an empty string if it is valid."""
    try:
        TypeAdapter[Any](field.rebuild_annotation()).validate_python(_parsed(field, answer))
    except ValidationError as error:
        mistake = {**cast("Mapping[str, Any]", error.errors(include_url=False)[0]), "loc": (name,)}
        return f"{describe_mistake(mistake, Settings)}."
    return ""


def _check(text: str, file: str) -> Settings:
    """Validate the complete settings. Raises BadRequest."""
    try:
        return Settings.model_validate(parse_settings(text, file))
    except ValidationError as error:
        told = describe_settings_errors(error, Settings, None)
        raise BadRequest(f"{told} {command_messages.FILE_NOT_WRITTEN}") from error


def _secrets(environment: Environment, platform: str) -> dict[str, str]:
    """Ask for the platform's secrets that are not set yet; skipped ones are empty. Raises BadRequest."""
    present = load_variables(environment)
    names = [secret_variable(platform, name) for name in platform_plugins().open(platform).secrets]
    return {name: _ask_secret(name) for name in names if not present.get(name)}


def _ask_secret(name: str) -> str:
    """Ask for a secret without showing it; return an empty string if there is no terminal."""
    if not sys.stdin.isatty():
        return ""
    value = getpass.getpass(command_messages.secret_prompt(name))
    if any(character in value for character in "'\n\\"):
        raise BadRequest(command_messages.BAD_SECRET)
    return value.strip()


def _read(prompt: str) -> str:
    sys.stdout.write(prompt)
    sys.stdout.flush()
    return sys.stdin.readline()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
