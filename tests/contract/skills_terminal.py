"""Run `hermes-acp skills` at a terminal."""

import os
import pty
import select
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def at_a_terminal(home: Path, *arguments: str, answer: bytes) -> tuple[int, str]:
    """Run `skills` at a terminal, answer its question, and return the exit code and everything shown."""
    near, far = pty.openpty()
    process = subprocess.Popen(
        (sys.executable, "-m", "hermes_acp", "skills", *arguments),
        env={"HERMES_HOME": str(home), "PATH": os.defpath},
        stdin=far,
        stdout=far,
        stderr=far,
    )
    os.close(far)
    shown = b""
    try:
        while b"[y/N] " not in shown:
            assert select.select([near], [], [], 60)[0], shown
            shown += os.read(near, 4096)
        os.write(near, answer)
        with suppress(OSError):  # The terminal is closed.
            while select.select([near], [], [], 60)[0]:
                shown += os.read(near, 4096)
        return process.wait(60), shown.decode()
    finally:
        process.kill()
        process.wait()
        os.close(near)
