"""Check this installation: its kind, its versions, and leftovers of an interrupted update."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from hermes_acp import __version__
from hermes_acp.config.installation import this_installation
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages
from hermes_acp.updates.installation_kinds import kind_of, this_machine
from hermes_acp.updates.installed_package import installed_package
from hermes_acp.updates.version_folders import VersionFolders

CHECK: Final = "installation"


def check_installation() -> Iterator[Finding]:
    """Yield findings about the installation. Blocks."""
    root = this_installation()
    folders = VersionFolders(root)
    current = folders.current()
    package = installed_package(folders.environment(current))
    kind = kind_of(root, installed_package(root) or package, this_machine())
    yield Finding(CHECK, "fine", doctor_messages.installed(__version__, kind, str(root)))
    if not folders.is_whole(current) and kind not in ("editable", "system", "conda"):
        text = doctor_messages.incomplete_version(str(folders.environment(current)))
        yield Finding(CHECK, "problem", text, doctor_messages.REINSTALL)
    elif package and folders.environment(current) != Path(sys.prefix) and kind in ("venv", "uv_tool", "pipx"):
        yield Finding(CHECK, "note", doctor_messages.other_version_runs(__version__, package.version))
    left = folders.unfinished()
    if left:
        yield Finding(CHECK, "note", doctor_messages.unfinished_update(left), doctor_messages.UPDATE_AGAIN)
