"""Find the root of the repository that contains a folder."""

import os
from pathlib import Path


def find_root(cwd: Path) -> Path:
    """Return the nearest folder from `cwd` up that contains a `.git` file or folder, or else `cwd` itself."""
    for folder in (cwd, *cwd.parents):
        if os.path.lexists(os.path.join(folder, ".git")):
            return folder
    return cwd
