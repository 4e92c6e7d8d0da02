"""Run git in a known environment: with chosen variables, and with settings that no repository file can override."""

import subprocess
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import IO, Final

from msgspec import Struct

from hermes_acp.git.program_settings import INERT_VARIABLES

NO_VARIABLES: Final[Mapping[str, str]] = MappingProxyType({})


def settings_variables(
    settings: Sequence[tuple[str, str]], environment: Mapping[str, str] = NO_VARIABLES
) -> dict[str, str]:
    """Return variables that pass these settings to git, numbered after those already in `environment`."""
    count = environment.get("GIT_CONFIG_COUNT", "0")
    first = int(count) if count.isascii() and count.isdigit() else 0
    given = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (name, value) in enumerate(settings, first):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return given


def settings_text(settings: Sequence[tuple[str, str]]) -> str:
    """Format the settings as a configuration file; values must not need quoting."""
    lines: list[str] = []
    for name, value in settings:
        section, _, rest = name.partition(".")
        inner, _, key = rest.rpartition(".")
        lines.append(f'[{section} "{inner}"]' if inner else f"[{section}]")
        lines.append(f"\t{key} = {value}")
    return "\n".join((*lines, ""))


class GitProgram(Struct, frozen=True):
    """A git program, and the variables with which to start it, without any that would control git."""

    path: str
    variables: Mapping[str, str]

    def start(
        self,
        arguments: Sequence[str],
        folder: str,
        variables: Mapping[str, str],
        source: IO[bytes] | int,
        pass_fds: Sequence[int] = (),
    ) -> "subprocess.Popen[bytes]":
        """Start a command in a new process session; the caller must end it. Raises OSError or ValueError."""
        inherited = {
            name: value
            for name, value in self.variables.items()
            if not name.startswith("GIT_") or name == "GIT_EXEC_PATH"
        }
        return subprocess.Popen(
            [self.path, "--no-pager", *arguments],
            cwd=folder,
            env={**inherited, **INERT_VARIABLES, **variables},
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            pass_fds=pass_fds,
        )
