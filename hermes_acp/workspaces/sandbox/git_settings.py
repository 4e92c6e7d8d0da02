"""Git settings files that contain keys, and the versions without keys that sandboxes show instead."""

import os
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from msgspec import Struct

from hermes_acp.git.git_entries import directories
from hermes_acp.git.setting_secrets import included_files, masked_settings
from hermes_acp.git.small_files import read_small_text

SYSTEM_SETTINGS: Final = "/etc/gitconfig"
HOME_SETTINGS: Final = (".gitconfig", ".config/git/config")
SETTINGS_NAMES: Final = ("config", "config.worktree")
MAX_BYTES: Final = 1 << 20
MAX_INCLUDED: Final = 32


class MaskedFile(Struct, frozen=True):
    """A file that is shown with different content; the content None means that it must be hidden."""

    path: str
    content: bytes | None


def masked_git_settings(
    repositories: Sequence[str], environment: Mapping[str, str]
) -> tuple[MaskedFile, ...]:
    """Return the settings files with keys: those of the given git directories, the user and the system. Blocks."""
    home = environment.get("HOME", "")
    waiting = deque(dict.fromkeys(_settings_files(repositories, environment, home)))
    seen: set[str] = set()
    found: list[MaskedFile] = []
    included = 0
    while waiting:
        path = os.path.realpath(waiting.popleft())
        if path in seen:
            continue
        seen.add(path)
        text = read_small_text(path, MAX_BYTES)
        if text is None:
            found += [MaskedFile(path, None)] if os.path.isfile(path) else []
            continue
        masked = masked_settings(text) if text else text
        if masked != text:
            found.append(MaskedFile(path, masked.encode()))
        for each in included_files(text, path, home) if "[include" in text.casefold() else ():
            included += 1
            if included <= MAX_INCLUDED:
                waiting.append(each)
    return tuple(found)


def _settings_files(repositories: Sequence[str], environment: Mapping[str, str], home: str) -> Iterator[str]:
    yield SYSTEM_SETTINGS
    if home:
        yield from (os.path.join(home, name) for name in HOME_SETTINGS)
    for variable in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        if os.path.isabs(named := environment.get(variable, "")):
            yield named
    for repository in repositories:
        for place in directories(repository) if os.path.isdir(repository) else ():
            yield from (f"{place}/{name}" for name in SETTINGS_NAMES)
