"""Take the pictures of the VS Code extension: a question with its diff, the result, an edit that grows."""

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.e2e.agent_process import COMMAND
from tests.e2e.vscode_editor import DRIVER, VSIX, build_extension, require_editor, run_node

ROOT: Final = Path(__file__).resolve().parents[2]
MEDIA: Final = ROOT / "vscode-extension" / "media"
"""Below the extension, whose own page shows them too."""
NAMES: Final = ("hunks-dark.png", "done-light.png", "inline-light.png")
SCRIPT: Final = Path(__file__).with_suffix(".mjs")
WAIT_S: Final = 300


def draw_vscode() -> Path:
    """Build the extension, let a scripted model edit files, take all pictures and return the first."""
    browser = require_editor(is_required=True)
    build_extension(browser)
    with tempfile.TemporaryDirectory() as folder:
        config = {
            "folder": folder,
            "vsix": str(VSIX),
            "command": COMMAND,
            "python": sys.executable,
            "script": str(DRIVER / "script.json"),
            "shots": folder,
            "root": str(ROOT),
        }
        done = run_node([str(SCRIPT), json.dumps(config)], browser=browser, wait_s=WAIT_S)
        if done.returncode:
            raise RuntimeError(f"no picture was taken: {done.stderr}")
        for name in NAMES:
            shutil.copyfile(Path(folder, name), MEDIA / name)
    return MEDIA / NAMES[0]
