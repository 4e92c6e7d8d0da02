"""Build the VS Code extension and the entry for the ACP registry."""

import json
import re
import shutil
import zipfile
from hashlib import sha256
from pathlib import Path
from typing import Final

from building import Build, ReleaseError, digest

REGISTRY_ID: Final = "hermes-acp"
ICON: Final = "vscode-extension/media/hermes.svg"


def build_extension(build: Build, wheel: Path, python: str) -> Path:
    """Build the extension; its server must be the wheel of this release, byte for byte."""
    folder = build.source / "vscode-extension"
    build.run("npm", "run", "--silent", "package", cwd=folder, more={"PYTHON": python})
    vsix = Path(shutil.copy(folder / "hermes-acp.vsix", build.out / f"hermes-acp-{build.version}.vsix"))
    with zipfile.ZipFile(vsix) as packed:
        (carried,) = (name for name in packed.namelist() if name.endswith(".whl"))
        if sha256(packed.read(carried)).hexdigest() != digest(wheel):
            raise ReleaseError("The extension contains a different wheel than the released one.")
    return vsix


def write_registry_entry(build: Build, repository: str) -> Path:
    """Write the entry for the ACP registry, pinned to this version.

    It names the package on PyPI, so it may only be published once the package is there; until then, the name is free.
    Source: agent.schema.json and CONTRIBUTING.md of the registry (agentclientprotocol/registry).
    """
    folder = build.out / "registry" / REGISTRY_ID
    folder.mkdir(parents=True)
    entry = {
        "id": REGISTRY_ID,
        "name": "Hermes",
        "version": build.version,
        "description": "A coding agent that asks before it changes anything, hunk by hunk",
        **({"repository": repository} if repository else {}),
        "authors": ["The hermes-acp authors"],
        "license": "MIT",
        "icon": "./icon.svg",
        "distribution": {"uvx": {"package": f"hermes-acp-server=={build.version}"}},
    }
    (folder / "agent.json").write_text(json.dumps(entry, indent=2) + "\n", "utf-8")
    icon = (build.source / ICON).read_text("utf-8")
    (folder / "icon.svg").write_text(registry_icon(icon), "utf-8")
    return folder


def registry_icon(svg: str) -> str:
    """Return an icon in the registry's size. Raises ReleaseError if it is not square or has its own colours."""
    box = re.search(r'viewBox="0 0 (\d+) (\d+)"', svg)
    colours = re.findall(r'(?:fill|stroke)="([^"]+)"', svg)
    if not box or box[1] != box[2] or not {*colours} <= {"currentColor", "none"} or "currentColor" not in svg:
        raise ReleaseError(f"{ICON} must be square and drawn in currentColor only.")
    return re.sub(r'\s(width|height)="[^"]*"', "", svg).replace("<svg", '<svg width="16" height="16"', 1)


def check_registry_entry(build: Build, entry: Path, registry: Path, python: str) -> None:
    """Run the checks of a registry clone on the entry; only the registry itself checks that the package is on PyPI."""
    copied = build.source.parent / "registry"
    shutil.rmtree(copied, ignore_errors=True)
    shutil.copytree(registry, copied, ignore=shutil.ignore_patterns(".git", "dist", ".sandbox"))
    for each in [folder for folder in copied.iterdir() if (folder / "agent.json").is_file()]:
        shutil.rmtree(each)
    shutil.copytree(entry, copied / entry.name)
    script = copied / ".github" / "workflows" / "build_registry.py"
    said = build.run(python, script, cwd=copied, more={"SKIP_URL_VALIDATION": "1"})
    if entry.name not in (copied / "dist" / "registry.json").read_text("utf-8"):
        raise ReleaseError(f"The registry's checks reject the entry:\n{said}")
