"""Describe the installation of hermes-acp: where it is, where it came from, and how to add an optional extra to it.

An installation is a virtual environment. An update creates a new environment in the `versions` folder of the first one,
whose command leads to the version in use (decision 20). The package is in no public index, so this module never
suggests a bare package name, which anyone could register there. Sources: PEP 405, "Python Virtual Environments"; PEP
610, "Recording the Direct URL Origin of installed distributions".
"""

import shlex
import sys
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

import msgspec
from msgspec import Struct

DISTRIBUTION: Final = "hermes-acp-server"
COMMAND: Final = "hermes-acp"
PROGRAMS: Final = "bin"
"""The folder with an environment's programs."""
VERSIONS: Final = "versions"
"""The folder in the first environment that contains the environments created by updates."""
CLONE: Final = "."
"""The source to suggest if the real one is unknown: a clone of the repository in the current folder."""
PIPX_RECORD: Final = "pipx_metadata.json"


class DirectoryInfo(Struct, frozen=True):
    """The recorded origin of an installation from a folder."""

    editable: bool = False


class VersionControlInfo(Struct, frozen=True):
    """The recorded origin of an installation from a repository."""

    vcs: str = ""
    commit_id: str = ""
    requested_revision: str = ""


class DirectUrl(Struct, frozen=True):
    """The recorded origin of an installation; empty for one from an index."""

    url: str = ""
    dir_info: DirectoryInfo | None = None
    vcs_info: VersionControlInfo | None = None

    @property
    def is_editable(self) -> bool:
        """Whether the source itself is executed (an editable installation)."""
        return bool(self.dir_info and self.dir_info.editable)

    @property
    def path(self) -> Path | None:
        """The local folder or file, if it still exists."""
        parts = urlsplit(self.url)
        path = Path(unquote(parts.path))
        return path if parts.scheme == "file" and path.exists() else None


def read_origin(text: str) -> DirectUrl:
    """Parse the origin from the text of a `direct_url.json`; return an empty one if the text is invalid."""
    try:
        return msgspec.json.decode(text, type=DirectUrl)
    except msgspec.DecodeError:
        return DirectUrl()


def first_environment(prefix: Path) -> Path:
    """Return the environment whose command people run, given that environment or that of one of its versions."""
    holder = prefix.parent
    is_version = holder.name == VERSIONS and (holder.parent / "pyvenv.cfg").is_file()
    return holder.parent if is_version else prefix


def this_installation() -> Path:
    """Return the environment whose command started this process."""
    return first_environment(Path(sys.prefix))


def command_of(environment: Path) -> Path:
    """Return the path of an environment's `hermes-acp` command."""
    return environment / PROGRAMS / COMMAND


def stable_command() -> Path | None:
    """Return a path that starts this installation even after updates, or None outside an environment."""
    command = command_of(this_installation())
    return command if command.is_file() else None


def install_command(extra: str, origin: str | None = None) -> str:
    """Return the command that installs an extra from the source that hermes-acp itself came from.

    `origin` is the text of `direct_url.json`; None means to read it from this installation.
    """
    found = read_origin(_recorded_origin() if origin is None else origin)
    source = _requirement(found, extra)
    if source.startswith(f"{CLONE}["):
        return shlex.join(["python", "-m", "pip", "install", source])
    return shlex.join([*_installer(), *(["-e"] if found.is_editable else []), source])


def extra_hint(extra: str) -> str:
    """Return a sentence that says how to install an extra."""
    command = install_command(extra)
    where = " in a clone of hermes-acp" if f"'{CLONE}[" in command else ""
    return f"Install it: {command}{where}."


def _installer() -> list[str]:
    """Return the start of a command that installs into this process's environment."""
    if find_spec("pip"):
        return [sys.executable, "-m", "pip", "install"]
    if Path(sys.prefix, PIPX_RECORD).is_file():
        return ["pipx", "install", "--force"]
    return ["uv", "pip", "install", "--python", sys.executable]


def _recorded_origin() -> str:
    try:
        return distribution(DISTRIBUTION).read_text("direct_url.json") or ""
    except PackageNotFoundError:
        return ""


def _requirement(origin: DirectUrl, extra: str) -> str:
    """Return the exact source of an installation with an extra, in the form that installers accept."""
    if origin.path:
        return f"{origin.path}[{extra}]"
    if origin.vcs_info and origin.vcs_info.commit_id:
        return f"{DISTRIBUTION}[{extra}] @ {origin.vcs_info.vcs}+{origin.url}@{origin.vcs_info.commit_id}"
    if origin.url.startswith("https://"):
        return f"{DISTRIBUTION}[{extra}] @ {origin.url}"
    return f"{CLONE}[{extra}]"
