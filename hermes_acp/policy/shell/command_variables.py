"""Decide which variables a command line may set because they only affect how output looks."""

import re
from typing import TYPE_CHECKING, Final

from hermes_acp.policy.shell.program_tables import load_tables

if TYPE_CHECKING:
    from hermes_acp.policy.shell.parsing.simple_command import Command

OWN: Final = re.compile(r"(?!.*_proxy$|npm_)[a-z][a-z0-9_]*")
PLAIN: Final = re.compile(r"[A-Za-z0-9_.,:+@%-]*")
ZONE: Final = re.compile(r"[A-Za-z0-9_+-]+(?:/[A-Za-z0-9_+-]+)*")
# In some Chinese and Japanese encodings, a backslash byte may be half of a character.
LOCALE: Final = re.compile(r"(?:C|POSIX)?|(?:C|[a-z]{2,3}(?:_[A-Z]{2})?)\.(?:UTF|utf)-?8")


def is_script_variable(name: str) -> bool:
    """Return whether a variable is local to the script: no program reads it from its environment."""
    return bool(OWN.fullmatch(name)) or name in load_tables().variables.own


def assignment_mistake(command: "Command") -> str:
    """Return the objection to the variables that a command sets, or an empty string if there is none."""
    for name, value in command.assignments:
        is_fine = is_script_variable(name) if command.name is None else _only_shapes_output(name, value)
        if not is_fine or (name == "IFS" and command.program == "export"):
            return f"setting {name[:40]} can change what programs do"
    return ""


def _only_shapes_output(name: str, value: str | None) -> bool:
    table = load_tables().variables
    if value in table.values.get(name, ()):
        return True
    return name in table.harmless and value is not None and bool(_harmless_values(name).fullmatch(value))


def _harmless_values(name: str) -> re.Pattern[str]:
    if name == "TZ":
        return ZONE
    return LOCALE if name == "LANG" or name.startswith("LC_") else PLAIN
