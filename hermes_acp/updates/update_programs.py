"""Run installers and test starts, writing their output to the log."""

import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Final, Protocol

import anyio
from msgspec import Struct

from hermes_acp.updates.update_errors import UpdateFailed

TIMEOUT_S: Final = 900.0
UNWANTED: Final = frozenset(
    {
        *("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_ROOT"),
        *(
            "PIP_REQUIRE_VIRTUALENV",
            "UV_PROJECT_ENVIRONMENT",
            "UV_SYSTEM_PYTHON",
            "UV_PYTHON",
            "CONDA_PREFIX",
        ),
    }
)
"""Variables that would direct an installer away from the new environment."""
REASONS: Final[Mapping[re.Pattern[str], str]] = MappingProxyType(
    {
        re.compile(pattern, re.IGNORECASE): reason
        for pattern, reason in (
            (r"no space left on device|errno 28|disk quota", "The disk is full."),
            (r"permission denied|errno 13", "A file could not be written: permission denied."),
            (
                r"certificate.?verify.?failed|sslerror|invalid peer certificate",
                "A certificate was rejected.",
            ),
            (r"requires-python|requires a different python", "It requires another version of Python."),
            (
                r"newconnectionerror|connect(ion)?.?(timeout|error|refused)|name resolution|dns error|"
                r"name or service not known|max retries|network is unreachable|error sending request|proxyerror",
                "A package index could not be reached.",
            ),
            (r"no matching distribution|no solution found", "A required package was not found."),
        )
    }
)
CHECK_NETWORK: Final = "Check the network and try again."


class Progress(Protocol):
    """The receiver of an update's progress reports; neither method raises."""

    def step(self, name: str, value: str = "") -> None:
        """Report the start of a step."""
        ...

    def detail(self, text: str) -> None:
        """Report a line of a program's output."""
        ...


class Finished(Struct, frozen=True):
    """A program that has ended: its exit code and its output."""

    code: int
    output: str
    errors: str


def clean_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the variables for installers, without those that would direct them elsewhere."""
    return {name: value for name, value in variables.items() if name not in UNWANTED} | {"NO_COLOR": "1"}


async def run_program(
    words: Sequence[str],
    progress: Progress,
    *,
    variables: Mapping[str, str],
    cwd: Path,
    timeout_s: float = TIMEOUT_S,
) -> Finished:
    """Run a program until it ends. Raises UpdateFailed if it cannot be started or does not end in time."""
    progress.detail(f"$ {' '.join(words)}")
    try:
        with anyio.fail_after(timeout_s):
            done = await anyio.run_process(
                list(words), stdin=subprocess.DEVNULL, check=False, cwd=cwd, env=dict(variables)
            )
    except TimeoutError as error:
        raise UpdateFailed(f"{words[0]} did not finish within {timeout_s:.0f} seconds.") from error
    except OSError as error:
        raise UpdateFailed(f"{words[0]} could not be started: {error.strerror}.") from error
    finished = Finished(
        done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
    )
    for text in (finished.output, finished.errors):
        if text.strip():
            progress.detail(text.rstrip())
    return finished


async def run_installer(
    words: Sequence[str], progress: Progress, *, variables: Mapping[str, str], cwd: Path
) -> str:
    """Run a step of an installation and return its output. Raises UpdateFailed with the reason."""
    done = await run_program(words, progress, variables=clean_variables(variables), cwd=cwd)
    if done.code != 0:
        raise UpdateFailed(f"{Path(words[0]).name} failed with code {done.code}. {reason_of(done)}".rstrip())
    return done.output


def reason_of(done: Finished) -> str:
    """Return a sentence on why an installer failed, or else its last line."""
    said = f"{done.output}\n{done.errors}"
    for pattern, reason in REASONS.items():
        if pattern.search(said):
            return reason
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return lines[-1] if lines else ""
