"""Recognise the kind of this installation, and whether `hermes-acp update` may change it.

Sources: PEP 668, "Marking Python base environments as externally managed"; the layouts of uv 0.13 and pipx 1.18.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from hermes_acp.config.installation import PIPX_RECORD, VERSIONS
from hermes_acp.updates.installed_package import InstalledPackage
from hermes_acp.updates.update_errors import NotUpdatable

Kind = Literal[
    "venv", "uv_tool", "pipx", "editable", "system", "conda", "container", "extension", "temporary"
]

EXTENSION_MARKER: Final = "hermes-wheel.txt"
"""The file that our VS Code extension writes into the environment that it creates."""
UV_RECEIPT: Final = "uv-receipt.toml"
CONTAINER_MARKERS: Final = ("/.dockerenv", "/run/.containerenv")
MOUNTS: Final = "/proc/self/mounts"
LAYERED: Final = frozenset({"overlay", "fuse.fuse-overlayfs", "aufs"})
"""File systems that containers layer over their image and lose when they are removed."""
TEMPORARY: Final = frozenset({"archive-v0", "environments-v2", "builds-v0"})
"""Folders in uv's cache in which `uvx` creates environments."""


class Machine(Struct, frozen=True):
    """Facts from outside the environment: the device that is lost with this container, or 0."""

    passing_device: int = 0


def this_machine() -> Machine:
    """Return facts about this machine, such as whether it is a container whose files are lost with it. Blocks."""
    if not any(os.path.exists(marker) for marker in CONTAINER_MARKERS):
        return Machine()
    with suppress(OSError, UnicodeDecodeError), open(MOUNTS, encoding="utf-8") as file:
        kinds = [words[2] for words in (line.split() for line in file) if words[1:2] == ["/"]]
        if kinds and kinds[-1] in LAYERED:
            return Machine(os.stat("/").st_dev)
    return Machine()


def kind_of(root: Path, package: InstalledPackage | None, machine: Machine) -> Kind:
    """Derive the kind of an installation from the content of its environment."""
    if package and package.origin.is_editable:
        return "editable"
    if (root / "conda-meta").is_dir():
        return "conda"
    if not (root / "pyvenv.cfg").is_file():
        return "system"
    if (root / EXTENSION_MARKER).is_file():
        return "extension"
    if TEMPORARY & set(root.parts) or (root / "pipx_expire_env").exists() or root.parent.name == ".cache":
        return "temporary"
    if machine.passing_device and root.stat().st_dev == machine.passing_device:
        return "container"
    if (root / UV_RECEIPT).is_file():
        return "uv_tool"
    return "pipx" if (root / PIPX_RECORD).is_file() else "venv"


def require_updatable(root: Path, kind: Kind, package: InstalledPackage | None) -> None:
    """Raise NotUpdatable for an installation that is updated by other means, which the error names."""
    origin = package.origin if package else None
    folder = str(origin.path) if origin and origin.path else "the clone"
    explained: dict[Kind, tuple[str, str]] = {
        "editable": (
            f"This is an editable installation, which runs {folder} itself.",
            f"Run `git pull` there, then `{root}/bin/python -m pip install -e {folder}`.",
        ),
        "system": (
            f"hermes-acp is installed in {root}, which is not a virtual environment.",
            "Update it with what installed it, such as the system's package manager.",
        ),
        "conda": (
            f"hermes-acp is installed in the conda environment {root}.",
            "Install the new version there with the same command as the first time.",
        ),
        "container": (
            "This is a container, so an update would be lost with it.",
            "Pull or build a newer image, and start the container from that.",
        ),
        "extension": (
            "The VS Code extension created this installation and updates it.",
            "Update the extension; it then offers to update the server.",
        ),
        "temporary": (
            f"{root} is a temporary environment, created for this start by `uvx` or `pipx run`.",
            "Name the newer wheel in that command instead.",
        ),
    }
    if kind in explained:
        message, hint = explained[kind]
        raise NotUpdatable(message, hint=hint)
    if package is None:
        raise NotUpdatable(f"{root} does not contain hermes-acp.", hint="Install it there again.")
    if (owner := root.stat().st_uid) != os.getuid():
        raise NotUpdatable(
            f"{root} belongs to another user (user ID {owner}).", hint="Run the update as that user."
        )
    for folder in (root, root / "bin", root / VERSIONS):
        if folder.exists() and not os.access(folder, os.W_OK | os.X_OK):
            raise NotUpdatable(f"{folder} cannot be written.", hint="Make it writable for your user.")
