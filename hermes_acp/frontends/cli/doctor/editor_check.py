"""Check that the settings of this user's editors start this installation."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from hermes_acp.config.installation import VERSIONS, this_installation
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.frontends.cli.doctor.command_check import is_ours
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages
from hermes_acp.frontends.cli.setup.editor_commands import EditorCommand, editor_commands
from hermes_acp.frontends.cli.setup.editor_files import this_machine

CHECK: Final = "editors"


def check_editors(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield a finding for each file of an editor that names the command. Blocks."""
    try:
        machine = this_machine(variables)
    except ConfigError:
        return
    try:
        for each in editor_commands(machine):
            yield _finding(each, variables.get("PATH", os.defpath))
    except BadRequest as error:
        yield Finding(CHECK, "problem", error.message, error.hint or doctor_messages.REPAIR_JSON)


def _finding(named: EditorCommand, search_path: str) -> Finding:
    file = str(named.file)
    mend = doctor_messages.mend_editor(named.editor)
    found = shutil.which(named.command, path=search_path)
    if found is None:
        return Finding(CHECK, "problem", doctor_messages.editor_starts_nothing(file, named.command), mend)
    if not is_ours(Path(found)):
        return Finding(CHECK, "note", doctor_messages.editor_starts_other(file, found), mend)
    if Path(found).is_relative_to(this_installation() / VERSIONS):
        return Finding(CHECK, "problem", doctor_messages.editor_starts_version(file, found), mend)
    return Finding(CHECK, "fine", doctor_messages.editor_starts_this(file))
