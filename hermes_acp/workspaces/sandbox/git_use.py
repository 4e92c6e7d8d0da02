"""Decide which confined commands may write to the workspace's git directories, and prepare those that do.

A mount over a file disappears when a program outside the sandbox replaces that file, so mounts over a git
directory's settings and hooks protect them only while nobody replaces them. The directory is therefore
read-only as a whole, unless a command needs to write to it; such a command leaves nothing running.
"""

import re
from collections.abc import Mapping
from typing import Final

from hermes_acp.git.program_settings import FOREGROUND_SETTINGS
from hermes_acp.git.safe_git import settings_variables
from hermes_acp.workspaces.sandbox.process_limits import SHELL

WRITERS: Final = ("git", "gh", "jj", "pre-commit")
"""Programs whose purpose includes writing to git directories.

They stay read-only unless a command names one of these.
"""
NAMES_WRITER: Final = re.compile(rf"(?<![\w.-])(?:{'|'.join(WRITERS)})(?![\w/.+@])")
LEFT: Final = (
    "[The background processes of this command were ended: a command that names git may not leave any.]"
)
WAITS: Final = 4
# The command's background processes get a moment to end. Any others end with the sandbox's first process.
KEEPER: Final = f"""exec 2>/dev/null
"$@" 2>&1
code=$?
runs() {{
  for each in /proc/[0-9]*; do
    case $each in /proc/1|/proc/$$) continue;; esac
    while read -r name state rest; do
      [ "$name" = State: ] && case $state in [ZX]) ;; *) return 0;; esac
    done <"$each/status"
  done
  return 1
}}
for each in {" ".join("x" * WAITS)}; do runs || exit $code; sleep 0.05; done
runs && printf '\\n%s\\n' '{LEFT}'
exit $code"""
KEEPING: Final = (SHELL, "-c", KEEPER, "sh")
"""The prefix for a command that ends with everything it started; used for the first process of a sandbox."""


def names_git(line: str) -> bool:
    """Return whether a command line names a program that writes to git directories."""
    return NAMES_WRITER.search(line) is not None


def git_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return variables with settings that make git finish its garbage collection before it ends."""
    return {**environment, **settings_variables(FOREGROUND_SETTINGS, environment)}
