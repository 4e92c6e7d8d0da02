"""Check which `hermes-acp` is on the PATH: this installation's, another one's, or another project's program."""

import os
import shutil
from collections.abc import Iterator, Mapping
from importlib.metadata import distributions
from pathlib import Path

from hermes_acp.config.installation import COMMAND, DISTRIBUTION, stable_command, this_installation
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages

CHECK = "command"


def check_command(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding about the first `hermes-acp` on the PATH. Blocks."""
    found = shutil.which(COMMAND, path=variables.get("PATH", os.defpath))
    ours = stable_command()
    if found is None:
        if ours:
            yield Finding(CHECK, "note", doctor_messages.not_on_path(str(ours)))
        return
    if is_ours(Path(found)):
        yield Finding(CHECK, "fine", doctor_messages.command_found(found))
        return
    owner = owner_of(Path(found))
    way_out = doctor_messages.use_ours(str(ours.parent if ours else this_installation()))
    if owner == DISTRIBUTION:
        yield Finding(CHECK, "note", doctor_messages.other_installation(found), way_out)
    elif owner:
        yield Finding(CHECK, "problem", doctor_messages.foreign_command(found, owner), way_out)
    else:
        yield Finding(CHECK, "note", doctor_messages.unknown_command(found), way_out)


def is_ours(command: Path) -> bool:
    """Return whether a command leads to this installation, following any number of links."""
    try:
        return command.resolve().is_relative_to(this_installation().resolve())
    except (OSError, RuntimeError):
        return False


def owner_of(command: Path) -> str:
    """Return the name of the distribution that installed a command; empty if it cannot be determined."""
    try:
        environment = command.resolve().parent.parent
    except (OSError, RuntimeError):
        return ""
    folders = [str(path) for path in environment.glob("lib/python3*/*-packages")]
    for distribution in distributions(path=folders):
        for entry in distribution.entry_points:
            if entry.group == "console_scripts" and entry.name == command.name:
                return distribution.name
    return ""
