"""The extension without an installed server: uvx runs its wheel, or a button installs it; old servers are named.

The steps are in `vscode/install.mjs`. The wheel's dependencies are installed from the package index, as they are for
users.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.vscode_editor import (
    DRIVER,
    PICTURES,
    ROOT,
    SERVER_VSIX,
    Report,
    build_extension,
    play,
    require_editor,
)

pytestmark = pytest.mark.slow

STEPS = ("isFetchedByUvx", "namesAnOldOne", "isInstalledByTheOneButton", "offersTheUpdate")
BUILD_WAIT_S = 300.0
OLD_SERVER = """#!{python}
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        info = {{"name": "hermes-acp", "version": "0.0.1"}}
        told = {{"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {{}}}}
        print(json.dumps({{"jsonrpc": "2.0", "id": asked["id"], "result": told}}), flush=True)
"""


def pip(*arguments: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", *arguments, "--quiet", "--disable-pip-version-check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=BUILD_WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def find_uvx(folder: Path) -> Path:
    """Return the folder with uv and uvx: those of the machine or of the tests, otherwise downloaded from the index."""
    if found := shutil.which("uvx") or shutil.which("uvx", path=Path(sys.executable).parent):
        return Path(found).resolve().parent
    pip("install", "--target", str(folder), "uv")
    return folder / "bin"


def download_caches(uv: Path) -> dict[str, str]:
    """Return the variables with this machine's caches of downloads, which a scene's own home does not have."""
    programs = {"UV_CACHE_DIR": [str(uv)], "PIP_CACHE_DIR": [sys.executable, "-m", "pip"]}
    return {
        name: subprocess.run(
            [*program, "cache", "dir"], capture_output=True, text=True, timeout=BUILD_WAIT_S, check=True
        ).stdout.strip()
        for name, program in programs.items()
    }


@pytest.fixture(scope="module")
def installed(require_all: bool, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Report]:
    browser = require_editor(is_required=require_all)
    folder = tmp_path_factory.mktemp("install")
    tools = folder / "tools"
    tools.mkdir()
    uv = find_uvx(folder / "uv")
    python = Path(sys.base_prefix, "bin", f"python{sys.version_info.major}.{sys.version_info.minor}")
    for name, target in (("uv", uv / "uv"), ("uvx", uv / "uvx"), (python.name, python)):
        (tools / name).symlink_to(target)
    old = folder / "old-server"
    old.write_text(OLD_SERVER.format(python=python))
    old.chmod(0o755)
    build_extension(browser, with_server=True)
    config = {
        "folder": str(folder / "scene"),
        "vsix": str(SERVER_VSIX),
        "python": sys.executable,
        "script": str(DRIVER / "script.json"),
        "shots": str(PICTURES.with_name("vscode-install-pictures")),
        "root": str(ROOT),
        "uv": str(tools),
        "old": str(old),
        "caches": download_caches(uv / "uv"),
    }
    return play("install.mjs", config, browser)


@pytest.mark.parametrize("step", STEPS)
def test_a_machine_without_a_server(installed: dict[str, Report], step: str) -> None:
    assert step in installed, "the run ended before this step"
    assert not installed[step].error
