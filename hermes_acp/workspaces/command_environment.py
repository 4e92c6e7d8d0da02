"""The environment variables that commands see.

The policy relies on them when it lets commands run without asking.
"""

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hermes_acp.git.program_settings import COMMAND_SETTINGS
from hermes_acp.git.safe_git import settings_variables
from hermes_acp.git.setting_secrets import without_key_settings
from hermes_acp.telemetry.redaction import is_secret
from hermes_acp.workspaces.processes.process_spawn import MARK

HIJACK_VARIABLES: Final = frozenset(
    {
        "LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "CDPATH", "BASHOPTS", "SHELLOPTS",
        "PYTHONSTARTUP", "GIT_EXTERNAL_DIFF", "GREP_OPTIONS", "RIPGREP_CONFIG_PATH", "TAR_OPTIONS", "LESSOPEN",
        "LESSCLOSE",
    }
)  # fmt: skip
IN_EDITOR: Final = "editor"
"""The mark of a command in an editor's terminal, where the editor owns its processes."""
FUNCTION_PREFIX: Final = "BASH_FUNC_"
GIT_SETTING: Final = ("GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_")
"""Variables that git needs either all of or none of, so those with keys are replaced, not left out."""
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


def command_environment(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that commands may see: no secrets, nothing that loads code, no pagers or prompts."""
    kept = {
        name: value
        for name, value in without_key_settings(environment).items()
        if name not in HIJACK_VARIABLES
        and not name.startswith(FUNCTION_PREFIX)
        and (name.startswith(GIT_SETTING) or not is_secret(name, value))
    }
    return {**kept, **NON_INTERACTIVE, **settings_variables(COMMAND_SETTINGS, kept)}


def temporary_folder(environment: Mapping[str, str]) -> str:
    """Return the folder for temporary files: `TMPDIR` if it is a folder, otherwise `/tmp`. Blocks."""
    named = environment.get("TMPDIR", "")
    return named if os.path.isdir(named) else "/tmp"


def terminal_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return overrides for an editor's variables, which are probably the same as ours; secret ones are emptied.

    The command gets a mark too, by which `training/person_check.py` recognises that no person started it.
    """
    kept = command_environment(environment)
    empty = {name: "" for name in environment if name not in kept and not name.startswith(FUNCTION_PREFIX)}
    return {
        **empty,
        **{name: value for name, value in NON_INTERACTIVE.items() if name != "TERM"},
        **settings_variables(COMMAND_SETTINGS, environment),
        MARK: IN_EDITOR,
    }
