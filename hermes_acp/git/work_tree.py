"""Find the work tree that contains a folder."""

import os
from pathlib import Path


def find_work_tree(folder: str) -> str | None:
    """Return the top of the work tree that contains a folder."""
    while not os.path.lexists(os.path.join(folder, ".git")):
        if folder == os.path.dirname(folder):
            return None
        folder = os.path.dirname(folder)
    return folder


def find_root(cwd: Path) -> Path:
    """Return the top of the work tree that contains a folder, or the folder itself if there is none."""
    return Path(find_work_tree(str(cwd)) or cwd)
