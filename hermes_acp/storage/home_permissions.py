"""Check that only the user can change the files in the home folder or read its keys. Functions block."""

import os
import stat
from pathlib import Path

from hermes_acp.config.environment import Environment

OTHERS_WRITE_BITS = stat.S_IWGRP | stat.S_IWOTH
OTHERS_READ_BITS = stat.S_IRGRP | stat.S_IROTH
MAX_NAMED = 3


def home_permissions_warning(environment: Environment) -> str:
    """Return a warning if others can change files in the home folder or read its keys, else an empty string."""
    if not hasattr(os, "getuid"):
        return ""
    home = environment.home
    linked = environment.linked_secrets_file
    secrets = (environment.secrets_file, linked) if linked else (environment.secrets_file,)
    steering = (home, environment.config_file, *secrets, home / "trust.json", home / "permissions.json")
    open_ones = [str(path) for path in steering if _is_open(path, is_secret=path in secrets)]
    if not open_ones:
        return ""
    named = ", ".join(open_ones[:MAX_NAMED])
    return (
        f"Other users can change {named}, or read the keys in it, and so decide what this agent starts. Remove their "
        f"access: `chmod -R go-rwx {home}`."
    )


def _is_open(path: Path, *, is_secret: bool) -> bool:
    try:
        about = path.stat()
    except OSError:
        return False
    mode = about.st_mode & (OTHERS_WRITE_BITS | OTHERS_READ_BITS if is_secret else OTHERS_WRITE_BITS)
    if mode & stat.S_IWOTH == 0 and about.st_gid == about.st_uid:
        mode &= ~(stat.S_IWGRP | stat.S_IRGRP)  # the user's own group, which most systems create
    return bool(mode) or about.st_uid not in (0, os.getuid())
