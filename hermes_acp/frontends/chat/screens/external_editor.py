"""The editor a person has chosen for texts, started on the terminal for one of them.

Knows: `VISUAL` and `EDITOR`, a file for a while. Does not know: what is edited.
"""

import os
import shlex
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import anyio


class ExternalEditor:
    """One command that is given a file."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self._command = command
        self._variables = variables

    async def change(self, text: str, name: str) -> str | None:
        """Have a text changed, as a file of that name that nobody else reads; None where the editor failed."""
        with tempfile.TemporaryDirectory(prefix="hermes-") as folder:
            path = Path(folder) / os.path.basename(name)
            try:
                path.write_text(text, encoding="utf-8", newline="")
                if await self._run(path) != 0:
                    return None
                return path.read_text(encoding="utf-8")
            except (OSError, UnicodeDecodeError):
                return None

    async def _run(self, path: Path) -> int:
        """Run it on the terminal; an interrupt there is its own affair. Raises OSError where it cannot be started."""
        with anyio.open_signal_receiver(signal.SIGINT):
            process = await anyio.open_process(
                [*self._command, str(path)], stdin=None, stdout=None, stderr=None, env=self._variables
            )
            async with process:
                return await process.wait()


def editor_of(variables: Mapping[str, str]) -> ExternalEditor | None:
    """Return the editor that the variables name; None where they name none that can be understood."""
    named = variables.get("VISUAL") or variables.get("EDITOR") or ""
    try:
        command = shlex.split(named)
    except ValueError:
        return None
    return ExternalEditor(command, variables) if command else None
