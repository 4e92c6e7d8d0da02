"""Whether the files of docker compose in a workspace may have it fetch more of them from elsewhere.

Knows: what those files are called, which words in them lead to others. Does not know: YAML, commands.
Source: the Compose specification, `include` and `extends`, which take addresses of repositories and registries.
"""

import os
import re
from typing import Final

from hermes_acp.policy.shell.contents import read_small

LARGEST_BYTES: Final = 1 << 20
NAMES: Final = tuple(
    f"{stem}{part}.{ending}"
    for stem in ("compose", "docker-compose")
    for part in ("", ".override")
    for ending in ("yaml", "yml")
)
# A backslash may spell either word in another way, and so does an encoding with zeros between its letters.
LEADS_ELSEWHERE: Final = re.compile(rb"include|extends|\\|\0")


def composition_elsewhere(cwds: tuple[str, ...]) -> str:
    """Give the first file in a working directory or above it that may lead elsewhere; empty where none does."""
    for cwd in cwds:
        folder = cwd
        while True:
            for path in (os.path.join(folder, name) for name in NAMES):
                content = read_small(path, LARGEST_BYTES)
                if content is None or LEADS_ELSEWHERE.search(content):
                    return path
            if folder == os.path.dirname(folder):
                break
            folder = os.path.dirname(folder)
    return ""
