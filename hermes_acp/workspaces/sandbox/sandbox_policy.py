"""The limits that a sandbox enforces, as plain values."""

import os
from collections.abc import Callable, Iterable
from typing import Final, Literal

from msgspec import Struct, structs

from hermes_acp.core.denied_paths import DeniedPath

READ_ONLY_CPU_S: Final = 600
READ_ONLY_FILE_BYTES: Final = 1 << 30

SandboxSwitch = Literal["auto", "on", "off"]
DEFAULT_VARIABLES = (
    "CARGO_HOME", "CC", "CFLAGS", "CI", "COLUMNS", "CONDA_*", "CXX", "CXXFLAGS", "DJANGO_SETTINGS_MODULE",
    "FORCE_COLOR", "GIT_CONFIG_*", "GIT_OPTIONAL_LOCKS", "GIT_PAGER", "GIT_TERMINAL_PROMPT", "GOBIN", "GOFLAGS",
    "GOPATH", "GOROOT", "HOME", "JAVA_HOME", "LANG", "LANGUAGE", "LC_*", "LDFLAGS", "LESSSECURE", "LINES", "LOGNAME",
    "MAKEFLAGS", "MANPATH", "NODE_ENV", "NO_COLOR", "NVM_DIR", "PAGER", "PATH", "PKG_CONFIG_PATH", "PYENV_ROOT",
    "PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED", "RUSTUP_HOME", "SHELL", "SOURCE_DATE_EPOCH", "TERM", "TZ", "USER",
    "VIRTUAL_ENV",
)  # fmt: skip


def _is_none(path: str) -> bool:
    del path
    return False


def _is_possible(names: bytes) -> bool:
    del names
    return True


class GuardedNames(Struct, frozen=True):
    """The names that no command in a sandbox may change or see, all in lower case.

    `protects` and `is_secret` classify other names, or the last few components of a path; `may_be_secret` checks many
    names at once, each followed by a NUL.
    """

    folders: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    secret_folders: frozenset[str] = frozenset()
    protects: Callable[[str], bool] = _is_none
    is_secret: Callable[[str], bool] = _is_none
    may_be_secret: Callable[[bytes], bool] = _is_possible

    def holds(self, name: str) -> bool:
        """Return whether a name is guarded; case does not matter."""
        return name.casefold() in self.folders or name.casefold() in self.files or self.protects(name)

    def hides(self, name: str) -> bool:
        """Return whether a folder with this name is hidden."""
        return name.casefold() in self.secret_folders


class CommandMode(Struct, frozen=True):
    """How a command is confined: in a terminal, with the workspace read-only, with writable git directories."""

    in_terminal: bool = False
    is_read_only: bool = False
    opens_git: bool = False

    def describe_git_access(self) -> str:
        """Describe what a command cannot change in git directories, and under which condition it could."""
        if self.opens_git:
            return "not to .git/hooks and .git/config"
        return ".git is read-only (a foreground command that names git may write to it)"


USUAL_MODE: Final = CommandMode()


class SandboxPolicy(Struct, frozen=True):
    """How commands are confined.

    `when` is `auto` for unapproved commands only, `on` for all, `off` for none. With `has_network` the
    whole network is available, otherwise only `hosts`. `readable` and `writable` are additional folders;
    `variables` are additional environment variable names, each of which may end in a star. Sizes are in
    bytes; None means no limit. `closed` returns the paths that rules currently deny to commands.
    """

    when: SandboxSwitch = "auto"
    has_network: bool = False
    hosts: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    writable: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    guarded: GuardedNames = GuardedNames()
    max_processes: int = 512
    memory_bytes: int | None = None
    file_bytes: int | None = None
    cpu_s: int | None = None
    closed: Callable[[], tuple[DeniedPath, ...]] = tuple

    def for_read_only(self) -> "SandboxPolicy":
        """Return the policy for a read-only command: CPU time and file sizes are limited regardless of the settings."""
        return structs.replace(
            self,
            cpu_s=min(self.cpu_s or READ_ONLY_CPU_S, READ_ONLY_CPU_S),
            file_bytes=min(self.file_bytes or READ_ONLY_FILE_BYTES, READ_ONLY_FILE_BYTES),
        )

    def memory(self) -> int:
        """Return a process's memory limit: the configured one, or three quarters of the machine's memory."""
        if self.memory_bytes:
            return self.memory_bytes
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 4 * 3


def is_any_of(name: str, patterns: Iterable[str]) -> bool:
    """Return whether a name matches one of the patterns, each of which may end in a star."""
    return any(
        name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern for pattern in patterns
    )
