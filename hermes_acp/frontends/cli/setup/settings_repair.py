"""Repair an invalid settings file: keep a copy, and remove the invalid settings or start a new file."""

import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.config.settings_check import SettingsProblem, check_settings
from hermes_acp.config.settings_text import read_text
from hermes_acp.config.yaml_text import with_value
from hermes_acp.core.errors import ConfigError
from hermes_acp.storage.private_files import storage_error, write_whole

REMOVABLE: Final = frozenset(
    {"provider", "model", "providers", "models", "fallbacks", "window_tokens", "max_output_tokens", "retry"}
    | {"titles", "budget", "compaction", "delegation", "checkpoints", "recall"}
)
"""Settings that are safe to remove. Removing others, such as rules, could allow more than the user intended."""


class BrokenFile(Struct, frozen=True):
    """An invalid settings file, its problems, and its text without the invalid settings, if that is enough."""

    path: Path
    problems: tuple[str, ...]
    mended: str | None = None


def find_broken(environment: Environment) -> tuple[BrokenFile, ...]:
    """Find the invalid settings files."""
    broken: list[BrokenFile] = []
    problems = check_settings(environment)
    if problems:
        sentences = tuple(problem.sentence for problem in problems)
        broken.append(BrokenFile(environment.config_file, sentences, _mended(environment, problems)))
    try:
        read_text(environment.secrets_file)
    except ConfigError as error:
        broken.append(BrokenFile(environment.secrets_file, (error.sentence(),)))
    return tuple(broken)


def mend(broken: BrokenFile) -> Path:
    """Keep a copy and remove the invalid settings; return the path of the copy. Raises StorageError."""
    copy = _copy_name(broken.path)
    try:
        write_whole(copy, broken.path.read_bytes(), mode=0o600)
        write_whole(broken.path, (broken.mended or "").encode(), mode=0o600)
    except OSError as error:
        raise storage_error("mend", broken.path, error) from error
    return copy


def set_aside(broken: BrokenFile) -> Path:
    """Rename the file, so that a new one can be created; return its new name. Raises StorageError."""
    copy = _copy_name(broken.path)
    try:
        os.rename(broken.path, copy)
    except OSError as error:
        raise storage_error("rename", broken.path, error) from error
    return copy


def _copy_name(path: Path) -> Path:
    name = f"{path.name}.broken-{time.strftime('%Y%m%d-%H%M%S')}"
    names = (name, *(f"{name}-{number}" for number in range(2, 100)))
    return next(path.with_name(each) for each in names if not os.path.lexists(path.with_name(each)))


def _mended(environment: Environment, problems: Sequence[SettingsProblem]) -> str | None:
    """Return the text without the invalid settings, or None if removing them is unsafe or not enough."""
    text = ""
    for problem in problems:
        path = tuple(part for part in problem.path if isinstance(part, str) and part != "[key]")
        is_named = len(path) == len([part for part in problem.path if part != "[key]"])
        if not path or not is_named or path[0] not in REMOVABLE:
            return None
        text = with_value(text or read_text(environment.config_file), path, None)
    return None if check_settings(environment, text) else text
