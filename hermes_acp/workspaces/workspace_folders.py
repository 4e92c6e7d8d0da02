"""Check and resolve the folders of a session on this machine."""

import os
from collections.abc import Sequence

from hermes_acp.core.errors import BadRequest
from hermes_acp.workspaces import path_confinement


def resolve_folders(cwd: str, roots: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return `cwd` and `roots` with links resolved.

    Raises BadRequest for a path that is not a folder, and OutsideRoots for a `cwd` outside the roots.
    """
    for folder in (cwd, *roots):
        if not os.path.isabs(folder) or not os.path.isdir(folder):
            raise BadRequest(
                f"{folder!r} is not the absolute path of a folder.", hint="Name an existing folder."
            )
    within = tuple(dict.fromkeys(os.path.realpath(root) for root in roots))
    return path_confinement.locate(cwd, cwd, within), within
