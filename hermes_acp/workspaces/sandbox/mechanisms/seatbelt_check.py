"""Check on this machine that macOS's sandbox enforces our profiles, before anything relies on it."""

import os
import socket
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import closing
from types import MappingProxyType
from typing import Final

from hermes_acp.workspaces.sandbox.mechanisms.bubblewrap import SandboxResources
from hermes_acp.workspaces.sandbox.mechanisms.seatbelt import build_profile
from hermes_acp.workspaces.sandbox.sandbox_mounts import SYSTEM, SandboxMounts

TIMEOUT_S: Final = 20.0
NEEDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "write in the workspace": ": > work/new && rm work/new",
        "read in the workspace": ": < work/kept/file",
        "start programs": "/bin/ls work > /dev/null",
    }
)
REFUSED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "write outside the workspace": ": > outside",
        "read outside the workspace": ": < private",
        "read a hidden file": ": < work/secret",
        "change a protected file": ": >> work/kept/file",
        "create a protected file": ": > work/missing",
        "rename a protected folder": "/bin/mv work/kept work/moved",
        "link to a protected file": "/bin/ln work/kept/file work/linked && : >> work/linked",
        "link to a hidden file": "/bin/ln work/secret work/linked && : < work/linked",
        "reach a local server": "/usr/bin/nc -z 127.0.0.1 $1",
    }
)
# Each test runs in a separate shell, because a failed redirection ends its shell.
SCRIPT: Final = """\
cd "$0" || exit 9
n=0
for each in "${@:2}"; do
    n=$((n+1))
    /bin/sh -c "$each" sh "$1" 2>/dev/null && echo $n
done
:"""


def find_seatbelt_fault(program: str) -> str:
    """Return the reason why the sandbox cannot be relied on, or an empty string. Blocks for a fraction of a second."""
    if not os.path.isfile(program):
        return f"{program} is missing"
    with tempfile.TemporaryDirectory(prefix="hermes-acp-sandbox-") as made:
        folder = os.path.realpath(made)
        for name in ("work", "work/kept", "own"):
            os.mkdir(f"{folder}/{name}")
        for name in ("private", "work/secret", "work/kept/file"):
            with open(f"{folder}/{name}", "x", encoding="ascii") as file:
                file.write("content\n")
        with closing(socket.create_server(("127.0.0.1", 0))) as server:
            return _try_all(program, folder, str(server.getsockname()[1]))


def _try_all(program: str, folder: str, port: str) -> str:
    work = f"{folder}/work"
    mounts = SandboxMounts(
        system=SYSTEM,
        read_only=(),
        writable=(work,),
        pinned=(),
        kept=(f"{work}/kept", f"{work}/missing"),
        hidden=(f"{work}/secret",),
        placeholders=(),
    )
    profile = build_profile(mounts, SandboxResources(f"{folder}/own", f"{folder}/own", ""))
    tests = {**NEEDED, **REFUSED}
    words = ("/bin/bash", "-c", SCRIPT, folder, port, *tests.values())
    try:
        done = subprocess.run(
            (*profile.arguments(program), *words),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            env={},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"sandbox-exec does not run ({error})"
    worked = [tuple(tests)[int(line) - 1] for line in done.stdout.decode().split() if line.isdigit()]
    for name in NEEDED:
        if name not in worked:
            said = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2][:200]
            return f"a command in it cannot {name} ({said or f'exit code {done.returncode}'})"
    for name in REFUSED:
        if name in worked:
            return f"a command in it can {name}"
    return ""
