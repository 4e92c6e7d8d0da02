"""Run the programs of a release in an export of the commit, so that their output contains nothing from this machine."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Final

from msgspec import Struct

ROOT: Final = Path(__file__).resolve().parents[2]
PROGRAM_S: Final = 1800.0


class ReleaseError(Exception):
    """The release cannot be built; the message says why and what to do."""


class Build(Struct, frozen=True):
    """One release: the export of its commit, the folder for its files, and the variables for its programs."""

    source: Path
    out: Path
    version: str
    commit: str
    time: int
    variables: Mapping[str, str]

    def run(self, *words: str | Path, cwd: Path | None = None, more: Mapping[str, str] | None = None) -> str:
        """Run a program, with more variables, and return its output. Raises ReleaseError."""
        return run(words, cwd or self.source, {**self.variables, **(more or {})})


def prepare(out: Path, scratch: Path, version: str) -> Build:
    """Export the checked-out commit. Raises ReleaseError if there are uncommitted changes."""
    git = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")}
    if changed := run(("git", "status", "--porcelain"), ROOT, git):
        raise ReleaseError(f"These files are not committed:\n{changed}Commit them or remove them first.")
    commit = run(("git", "rev-parse", "HEAD"), ROOT, git).strip()
    time = run(("git", "show", "--no-patch", "--format=%ct", "HEAD"), ROOT, git).strip()
    os.umask(0o022)
    source = scratch / "source"
    for folder in (source, out):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    archive = subprocess.run(
        ("git", "archive", "HEAD"), cwd=ROOT, env=git, capture_output=True, check=True, timeout=PROGRAM_S
    ).stdout
    with tarfile.open(fileobj=BytesIO(archive)) as export:
        export.extractall(source, filter="data")
    fixed = {"SOURCE_DATE_EPOCH": time, "TZ": "UTC", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0", "CI": "1"}
    return Build(source, out, version, commit, int(time), {**os.environ, **fixed})


def run(words: Sequence[str | Path], cwd: Path, variables: Mapping[str, str]) -> str:
    """Run a program and return its output. Raises ReleaseError, with that output, if the program fails."""
    try:
        done = subprocess.run(
            [str(word) for word in words],
            cwd=cwd,
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PROGRAM_S,
        )
    except OSError as error:
        raise ReleaseError(f"{words[0]} cannot be run: {error.strerror}.") from error
    if done.returncode:
        said = (done.stdout + done.stderr).strip()[-3000:]
        raise ReleaseError(f"{' '.join(map(str, words))} failed with exit code {done.returncode}:\n{said}")
    return done.stdout


def digest(path: Path) -> str:
    """Return a file's SHA-256."""
    return sha256(path.read_bytes()).hexdigest()
