"""Environments that look as if an installer had created them, but contain no packages."""

from __future__ import annotations

from pathlib import Path

SITE = "lib/python3.11/site-packages"


def distribution(
    root: Path,
    name: str,
    version: str,
    *,
    needs: tuple[str, ...] = (),
    extras: tuple[str, ...] = (),
    **files: str,
) -> Path:
    """Write the metadata of an installed distribution; in the names of `files`, underscores stand for dots."""
    folder = root / SITE / f"{name.replace('-', '_')}-{version}.dist-info"
    folder.mkdir(parents=True)
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    lines += [f"Requires-Dist: {each}" for each in needs] + [f"Provides-Extra: {each}" for each in extras]
    (folder / "METADATA").write_text("\n".join(lines) + "\n")
    for file, text in files.items():
        (folder / file.replace("_json", ".json").replace("_txt", ".txt")).write_text(text)
    return folder


def environment(root: Path, version: str = "0.1.0", origin: str = "", record: str = "") -> Path:
    """Create an environment with hermes-acp in it, whose script prints its version."""
    (root / "bin").mkdir(parents=True)
    (root / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / "bin" / "python").symlink_to("/bin/sh")
    script(root, version)
    distribution(root, "hermes-acp-server", version, direct_url_json=origin, RECORD=record, INSTALLER="pip\n")
    return root


def script(root: Path, version: str) -> None:
    """Write the commands of an environment."""
    for name in ("hermes-acp", "hermes-acp-server"):
        path = root / "bin" / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\necho hermes-acp {version}\n")
        path.chmod(0o755)
