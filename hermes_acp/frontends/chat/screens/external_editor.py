"""Open text in the person's editor (`VISUAL` or `EDITOR`)."""

import os
import shlex
import signal
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import anyio

PROMPT_FILE: Final = "prompt.md"
"""The name of the file in which a prompt is written."""


class ExternalEditor:
    """Runs one editor command on temporary files."""

    def __init__(self, command: Sequence[str], variables: Mapping[str, str]) -> None:
        self._command = command
        self._variables = variables

    async def change(self, text: str, name: str) -> str | None:
        """Let the person edit text in a private file with this name; return None if the editor failed."""
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
        """Run the editor in the terminal; Ctrl+C goes to the editor. Raises OSError if it cannot be started."""
        with anyio.open_signal_receiver(signal.SIGINT):
            process = await anyio.open_process(
                [*self._command, str(path)], stdin=None, stdout=None, stderr=None, env=self._variables
            )
            async with process:
                return await process.wait()


def editor_of(variables: Mapping[str, str]) -> ExternalEditor | None:
    """Return the editor from VISUAL or EDITOR; None if neither is set or the command cannot be parsed."""
    named = variables.get("VISUAL") or variables.get("EDITOR") or ""
    try:
        command = shlex.split(named)
    except ValueError:
        return None
    return ExternalEditor(command, variables) if command else None
