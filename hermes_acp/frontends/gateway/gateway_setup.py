"""Set up a platform: ask for its settings, check them, and add them to `config.yaml`; secrets go into `.env`."""

import getpass
import sys
from types import UnionType
from typing import Any, Final, get_args

import yaml
from pydantic import BaseModel, ValidationError

from hermes_acp.config.environment import Environment
from hermes_acp.config.sections.gateway_settings import PlatformsSettings, secret_variable
from hermes_acp.config.settings import Settings, load_settings, load_variables, parse_settings
from hermes_acp.config.settings_errors import describe_settings_errors
from hermes_acp.config.settings_text import read_text
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.gateway import messages
from hermes_acp.frontends.gateway.gateway_process import platform_plugins
from hermes_acp.storage.private_files import write_private_text

SECTION: Final = "gateway"


def set_up(environment: Environment, platform: str) -> int:
    """Ask for a platform's settings and write them. Raises BadRequest, ConfigError, StorageError."""
    file = environment.config_file
    settings = load_settings(environment)
    if getattr(settings.gateway.platforms, platform) is not None:
        raise BadRequest(messages.already_set_up(platform, str(file)))
    section = _section(platform)
    written: dict[str, Any] = {}
    for name, field in section.model_fields.items():
        answer = _ask(name, "" if field.is_required() else messages.OPTIONAL, is_required=field.is_required())
        if answer:
            written[name] = answer
    if settings.gateway.workspace is None and (
        folder := _ask("workspace", messages.FOLDER, is_required=False)
    ):
        workspace: dict[str, Any] = {"workspace": folder}
    else:
        workspace = {}
    text = _with_platform(read_text(file), str(file), platform, written, workspace)
    secrets = {
        secret_variable(platform, name): _ask_secret(secret_variable(platform, name))
        for name in platform_plugins().open(platform).secrets
        if not load_variables(environment).get(secret_variable(platform, name))
    }
    write_private_text(file, text)
    if kept := {name: value for name, value in secrets.items() if value}:
        before = read_text(environment.secrets_file)
        lines = "".join(f"{name}='{value}'\n" for name, value in kept.items())
        separator = "" if not before or before.endswith("\n") else "\n"
        write_private_text(environment.secrets_file, f"{before}{separator}{lines}")
    missing = [name for name, value in secrets.items() if not value]
    sys.stdout.write(f"{messages.settings_written(str(file), missing)}\n")
    return ExitCode.DONE


def _section(platform: str) -> type[BaseModel]:
    annotation = PlatformsSettings.model_fields[platform].annotation
    assert isinstance(annotation, UnionType), "each platform's section is optional"
    return next(each for each in get_args(annotation) if each is not type(None))


def _with_platform(
    content: str, file: str, platform: str, written: dict[str, Any], workspace: dict[str, Any]
) -> str:
    """Return the settings' text with a platform more. Raises BadRequest if they would not be valid."""
    plain = parse_settings(content, file)
    section: dict[str, Any] = plain.get(SECTION) or {}
    present: dict[str, Any] = section.get("platforms") or {}
    platforms: dict[str, Any] = {**present, platform: written}
    whole: dict[str, Any] = {**plain, SECTION: {**section, **workspace, "platforms": platforms}}
    try:
        Settings.model_validate(whole)
    except ValidationError as error:
        raise BadRequest(
            f"{describe_settings_errors(error, Settings, None)} {messages.FILE_NOT_WRITTEN}"
        ) from error
    added = yaml.safe_dump({SECTION: whole[SECTION]}, sort_keys=False, allow_unicode=True)
    if not section:  # what people wrote, with their comments, stays as it is
        return f"{content}{'' if not content or content.endswith(chr(10)) else chr(10)}{added}"
    raise BadRequest(messages.add_by_hand(file, added))


def _ask(name: str, meaning: str, *, is_required: bool) -> str:
    while True:
        sys.stdout.write(messages.setting_prompt(name, meaning))
        sys.stdout.flush()
        line = sys.stdin.readline()
        if line.strip() or not is_required:
            return line.strip()
        if not line:
            raise BadRequest(messages.value_missing(name))


def _ask_secret(name: str) -> str:
    """Ask for a secret without showing it; where nobody can be asked, it stays empty."""
    if not sys.stdin.isatty():
        return ""
    value = getpass.getpass(messages.setting_prompt(name, messages.SECRET))
    if any(character in value for character in "'\n\\"):
        raise BadRequest(messages.BAD_SECRET)
    return value.strip()
