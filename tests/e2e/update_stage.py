"""Real installations to update: wheels of several versions, a package index, an environment with the first version."""

from __future__ import annotations

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.architecture.sources import ROOT

FIRST = "0.1.0"
BUILD_TIMEOUT_S = 300
Changes = Mapping[str, bytes | None]
"""The new contents of files by name; None for files to be omitted."""


def find_uv() -> str | None:
    """Return uv, beside this Python or on the PATH."""
    beside = Path(sys.executable).with_name("uv")
    return str(beside) if beside.is_file() else shutil.which("uv")


def build_wheel(into: Path) -> Path:
    """Build this repository's wheel."""
    into.mkdir(parents=True, exist_ok=True)
    uv = find_uv()
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(into), str(ROOT)]
    words = [uv, "build", "--quiet", "--wheel", "--no-create-gitignore", "--out-dir", str(into), str(ROOT)]
    subprocess.run([word for word in words if word] if uv else pip, check=True, timeout=BUILD_TIMEOUT_S)
    (wheel,) = into.glob("*.whl")
    return wheel


def other_version(wheel: Path, into: Path, version: str, changes: Changes | None = None) -> Path:
    """Write a wheel with another version, and with some files changed, added or omitted."""
    into.mkdir(parents=True, exist_ok=True)
    target = into / f"hermes_acp_server-{version}-py3-none-any.whl"
    before, after = f"hermes_acp_server-{FIRST}.dist-info", f"hermes_acp_server-{version}.dist-info"
    rows: list[str] = []
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as made:
        kept = {name: source.read(name) for name in source.namelist()}
        for name, content in {**kept, **(changes or {})}.items():
            if name.endswith("/RECORD") or content is None:
                continue
            if name == "hermes_acp/__init__.py":
                content = content.replace(f'"{FIRST}"'.encode(), f'"{version}"'.encode())
            if name == f"{before}/METADATA":
                content = content.replace(
                    f"\nVersion: {FIRST}\n".encode(), f"\nVersion: {version}\n".encode(), 1
                )
            renamed = name.replace(before, after)
            made.writestr(renamed, content)
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{renamed},sha256={digest},{len(content)}")
        made.writestr(f"{after}/RECORD", "\n".join([*rows, f"{after}/RECORD,,", ""]))
    return target


def write_index(folder: Path, *wheels: Path) -> str:
    """Write an index of static pages (PEP 503) and return its URL as a file."""
    project = folder / "hermes-acp-server"
    project.mkdir(parents=True, exist_ok=True)
    links: list[str] = []
    for wheel in wheels:
        if not (project / wheel.name).exists():
            shutil.copyfile(wheel, project / wheel.name)
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        links.append(
            f'<a href="{wheel.name}#sha256={digest}" data-requires-python="&gt;=3.11">{wheel.name}</a>'
        )
    page = f"<!DOCTYPE html><html><body>{'<br>'.join(links)}</body></html>"
    (project / "index.html").write_text(page)
    return folder.as_uri()


@contextmanager
def served(folder: Path) -> Generator[str]:
    """Serve a folder over HTTP and yield its address."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "--bind", "127.0.0.1", "--directory", str(folder), "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert process.stdout
        found = re.search(r"port (\d+)", process.stdout.readline())
        assert found
        yield f"http://127.0.0.1:{found[1]}"
    finally:
        process.kill()
        process.wait(timeout=60)
        if process.stdout:
            process.stdout.close()


def install(root: Path, wheel: Path) -> Path:
    """Create an environment with a wheel in it, as uv or venv and pip do, and return its command."""
    uv = find_uv()
    python = str(root / "bin" / "python")
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    if uv:
        made = [uv, "venv", "--quiet", "--no-project", "--python", base_python(), str(root)]
        filled = [uv, "pip", "install", "--quiet", "--python", python, str(wheel)]
    else:
        made = [base_python(), "-m", "venv", str(root)]
        filled = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
    for words in (made, filled):
        subprocess.run(words, check=True, timeout=BUILD_TIMEOUT_S, env=clean)
    return root / "bin" / "hermes-acp"


def base_python() -> str:
    """Return the Python with which the tests' own environment was created."""
    return str(Path(sys.base_prefix, "bin", f"python{sys.version_info[0]}.{sys.version_info[1]}"))
