"""Check that nobody but its user can change what is in the home folder, or read its keys. Blocks."""

import os
import stat
from pathlib import Path

from hermes_acp.config.environment import Environment

OTHERS_WRITE_BITS = stat.S_IWGRP | stat.S_IWOTH
OTHERS_READ_BITS = stat.S_IRGRP | stat.S_IROTH
MAX_NAMED = 3


def home_permissions_warning(environment: Environment) -> str:
    """Say what in the home folder others can change or, of keys, read; nothing where it is its user's alone."""
    if not hasattr(os, "getuid"):
        return ""
    home = environment.home
    steering = (
        home,
        environment.config_file,
        environment.secrets_file,
        home / "trust.json",
        home / "permissions.json",
    )
    open_ones = [str(path) for path in steering if _is_open(path, is_secret=path == environment.secrets_file)]
    if not open_ones:
        return ""
    named = ", ".join(open_ones[:MAX_NAMED])
    return (
        f"Others than you can change {named}, or read the keys in it, and so decide what this agent starts. Make it "
        f"yours alone: `chmod -R go-rwx {home}`."
    )


def _is_open(path: Path, *, is_secret: bool) -> bool:
    try:
        about = path.stat()
    except OSError:
        return False
    mode = about.st_mode & (OTHERS_WRITE_BITS | OTHERS_READ_BITS if is_secret else OTHERS_WRITE_BITS)
    if mode & stat.S_IWOTH == 0 and about.st_gid == about.st_uid:
        mode &= ~(stat.S_IWGRP | stat.S_IRGRP)  # a group of one, as most systems give each user
    return bool(mode) or about.st_uid not in (0, os.getuid())
