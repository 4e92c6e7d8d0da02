"""A watcher shell that kills the agent's commands if the agent is killed.

The watcher sleeps in `read` until its pipe closes, which happens however this process ends. It receives the process
group of each command that starts or ends. If there is a /proc, it also finds processes that left their group, by their
mark or tag. Only a process that sheds all three escapes.
"""

import os
import signal
from contextlib import suppress
from secrets import token_hex
from typing import Final

from hermes_acp.workspaces.processes.rlimit_tags import SHOWN_LIMIT

SHELL: Final = "/bin/sh"
SCRIPT: Final = r"""
cd /
trap '' HUP INT TERM
live=' '
lines='
'
folders= empty=
tags=' '
while read -r what group; do
    case $what in
        tagged) tags="$tags$group " ;;
        folder) folders=$folders$group$lines ;;
        stand-in) empty=$empty$group$lines ;;
        began) live="$live$group " ;;
        ended)
            case $live in *" $group "*) live="${live%%" $group "*} ${live#*" $group "}" ;; esac
            case $live in ' ') tags=' ' ;; esac
            ;;
    esac
done
strike() {
    for group in $live; do kill -s "$1" -- "-$group"; done
    for each in $tags; do
        case $live in
            *" ${each%%:*} "*)
                for found in $(grep -ls "^$shown  *${each#*:} " /proc/[0-9]*/limits); do
                    found=${found#/proc/}
                    kill -s "$1" "${found%/limits}"
                done
        esac
    done
    for found in $(grep -ls "$mark" /proc/[0-9]*/environ); do
        found=${found#/proc/}
        kill -s "$1" "${found%/environ}"
    done
}
mark=$1
shown=$2
strike TERM
sleep 0.5 || sleep 1
strike KILL
set -f
IFS=$lines
for each in $folders; do rm -rf -- "$each"; done
sleep 0.2 || sleep 1
for each in $empty; do rmdir -- "$each"; done
"""


class OrphanReaper:
    """The watcher of one workspace's commands, running from the first of them until `close`.

    Each command's own mark must start with `mark`, in the environment variable named `variable`.
    """

    def __init__(self, variable: str) -> None:
        self.mark = token_hex(12)
        self._variable = variable
        self._pid = 0
        self._writing = -1

    def begin(self) -> None:
        """Start the watcher if needed; if it cannot start, commands run anyway."""
        if self._pid:
            return
        reading, writing = os.pipe()
        try:
            self._pid = os.posix_spawn(
                SHELL,
                (SHELL, "-c", SCRIPT, "hermes-acp-watch", f"{self._variable}={self.mark}", SHOWN_LIMIT),
                {"PATH": os.defpath},
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, reading, 0),
                    (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
                    (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
                ],
                setpgroup=0,
            )
        except OSError:
            os.close(writing)
        else:
            os.set_blocking(writing, False)
            self._writing = writing
        finally:
            os.close(reading)

    def register_process(self, group: int, tag: int = 0) -> None:
        """Register a command's process group and all processes that have its tag (`rlimit_tags`)."""
        tagged = f"tagged {group}:{tag}\n" if tag else ""
        self._tell(f"began {group}\n{tagged}")

    def forget_process(self, group: int) -> None:
        """Unregister a command that has no remaining processes, because its process ID may soon be reused."""
        self._tell(f"ended {group}\n")

    def register_folder(self, path: str) -> None:
        """Have a folder removed if this process is killed; paths with line breaks are not supported."""
        if "\n" not in path:
            self._tell(f"folder {path}\n")

    def note_placeholder(self, path: str) -> None:
        """Have a folder removed if it is empty when this process is killed."""
        if "\n" not in path:
            self._tell(f"stand-in {path}\n")

    def _tell(self, line: str) -> None:
        if self._writing >= 0:
            with suppress(OSError):  # the watcher was killed or stopped, and does not need the line
                os.write(self._writing, line.encode())

    def close(self) -> None:
        """Stop the watcher once no command is left. Blocks briefly."""
        if self._writing < 0:
            return
        pid, self._pid = self._pid, 0
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        os.close(self._writing)
        self._writing = -1
