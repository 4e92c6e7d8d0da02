"""The variables that commands see.

Knows: which variables load code or steer programs that only read, and how git is kept from a repository's own programs.
Does not know: workspaces, what a command is. What policy lets run unasked relies on these.
"""

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from hermes_acp.telemetry.redaction import is_secret

HIJACK_VARIABLES: Final = frozenset(
    {
        "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "CDPATH", "BASHOPTS", "SHELLOPTS",
        "PYTHONSTARTUP", "GIT_EXTERNAL_DIFF", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "LESSOPEN",
        "LESSCLOSE",
    }
)  # fmt: skip
FUNCTION_PREFIX: Final = "BASH_FUNC_"
NON_INTERACTIVE: Final = MappingProxyType(
    {
        "PAGER": "cat",
        "LESSSECURE": "1",
        "GIT_PAGER": "cat",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_OPTIONAL_LOCKS": "0",
        "TERM": "dumb",
    }
)
# A repository's hooks, filters and aliases stay as they are: a person who approves `git commit` expects them.
GIT_CONFIG_VARIABLES: Final = (
    ("core.fsmonitor", "false"),
    ("safe.bareRepository", "explicit"),
    ("protocol.ext.allow", "never"),
)


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables commands may see: no secrets, nothing that loads code, no pagers and prompts."""
    kept = {
        name: value
        for name, value in environment.items()
        if name not in HIJACK_VARIABLES
        and not name.startswith(FUNCTION_PREFIX)
        and not is_secret(name, value)
    }
    return with_git_settings({**kept, **NON_INTERACTIVE})


def temporary_folder(environment: Mapping[str, str]) -> str:
    """Return the folder for temporary files: `TMPDIR` where it is one, else `/tmp`. Blocks."""
    named = environment.get("TMPDIR", "")
    return named if os.path.isdir(named) else "/tmp"


def terminal_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return what an editor is to lay over its own variables, which are likely ours: what is secret is empty then."""
    kept = command_environment(environment)
    empty = {name: "" for name in environment if name not in kept and not name.startswith(FUNCTION_PREFIX)}
    return {
        **empty,
        **{name: value for name, value in NON_INTERACTIVE.items() if name != "TERM"},
        **_git_settings(environment, GIT_CONFIG_VARIABLES),
    }


def with_git_settings(
    environment: Mapping[str, str], settings: Sequence[tuple[str, str]] = GIT_CONFIG_VARIABLES
) -> dict[str, str]:
    """Return these variables with settings for git behind those that they already hold."""
    return {**environment, **_git_settings(environment, settings)}


def _git_settings(environment: Mapping[str, str], settings: Sequence[tuple[str, str]]) -> dict[str, str]:
    count = environment.get("GIT_CONFIG_COUNT", "0")
    first = int(count) if count.isascii() and count.isdigit() else 0
    given = {"GIT_CONFIG_COUNT": str(first + len(settings))}
    for number, (name, value) in enumerate(settings, first):
        given |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return given
