"""The `hermes-acp setup` command: choose a provider, its key and a model.

The key goes to `.env`, everything else to `config.yaml`; only their owner can read them.
"""

import getpass
import sys
from collections.abc import Mapping
from pathlib import Path

from hermes_acp.config.environment import read_environment
from hermes_acp.config.provider_presets import Preset, presets
from hermes_acp.config.settings import load_settings
from hermes_acp.config.yaml_text import with_value
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.frontends.cli.messages import setup_messages
from hermes_acp.storage.private_files import private_folder, storage_error, write_whole


def run_setup() -> int:
    """Ask, check, write; return the exit code. Raise BadRequest if input ends early, ConfigError, StorageError."""
    environment = read_environment()
    load_settings(environment)
    print(setup_messages.WHICH_PROVIDER)
    for number, preset in enumerate(presets().values(), 1):
        print(setup_messages.provider_line(number, preset.label))
    provider, preset = tuple(presets().items())[_ask_number(len(presets())) - 1]
    usual_url = _usual_url(preset, environment.variables)
    base_url = _ask(setup_messages.url_prompt(usual_url))
    key_variable = next(iter(preset.key_variables), "")
    key = _ask_secret(setup_messages.key_prompt(key_variable)) if key_variable else ""
    model = _ask(setup_messages.model_prompt(preset.model))
    # A region-dependent address is determined anew each time, unless another was entered.
    _write_config(
        environment.config_file, provider, base_url or ("" if preset.region_variables else usual_url), model
    )
    if key:
        _write_secret(environment.secrets_file, key_variable, key)
    stronger = ("HERMES_PROVIDER", "HERMES_MODEL", preset.url_variable, *preset.key_variables)
    if held := [name for name in stronger if environment.variables.get(name)]:
        note(setup_messages.environment_wins(", ".join(held)))
    print(setup_messages.written(str(environment.home)))
    return 0


def _usual_url(preset: Preset, variables: Mapping[str, str]) -> str:
    try:
        return preset.own_url(variables)
    except ConfigError:
        return preset.base_url


def _ask(question: str) -> str:
    try:
        return input(question).strip()
    except EOFError as error:
        raise _ended() from error


def _ask_secret(question: str) -> str:
    """Ask without echoing the input; piped input is not echoed anyway."""
    if not sys.stdin.isatty():
        return _ask(question)
    try:
        return getpass.getpass(question).strip()
    except EOFError as error:
        raise _ended() from error


def _ended() -> BadRequest:
    if not sys.stdin.isatty():
        return BadRequest(setup_messages.ENDED_EARLY, hint=setup_messages.ENDED_EARLY_HINT)
    print()  # the question's line has no line ending yet
    return BadRequest(setup_messages.NOTHING_CHANGED, hint=setup_messages.AGAIN_HINT)


def _ask_number(most: int) -> int:
    while True:
        answer = _ask(setup_messages.number_prompt(most))
        if answer.isdecimal() and 1 <= int(answer) <= most:
            return int(answer)
        print(setup_messages.number_wanted(most))


def _write_config(path: Path, provider: str, base_url: str, model: str) -> None:
    """Write the answers, preserving the comments, order and layout of everything else."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    text = with_value(text, ("provider",), provider)
    text = with_value(text, ("model",), model or None)
    _write(path, with_value(text, ("providers", provider, "base_url"), base_url or None))


def _write_secret(path: Path, name: str, value: str) -> None:
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    kept = [line for line in lines if line.partition("=")[0].removeprefix("export ").strip() != name]
    quoted = "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
    _write(path, "\n".join([*kept, f"{name}={quoted}"]) + "\n")


def _write(path: Path, text: str) -> None:
    private_folder(path.parent)
    try:
        write_whole(path, text.encode(), mode=0o600)
    except OSError as error:
        raise storage_error("write", path, error) from error
