"""The folder of one training run in the agent's home folder, with its lock, state, progress and adapter."""

import fcntl
import os
import shutil
import time
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import Struct, structs

from hermes_acp.core.errors import Busy, StorageError
from hermes_acp.storage.private_files import private_folder, storage_error, write_private_text
from hermes_acp.training.checkpoints import Checkpoints

Phase = Literal["loading", "running", "done", "stopped", "failed"]
TAIL_BYTES: Final = 4096


class RunState(Struct, frozen=True):
    """The state that the trainer's process last recorded; `reason` says why it failed."""

    phase: Phase
    pid: int
    trainer: str
    method: str
    digest: str
    started_at: float
    from_step: int = 0
    checkpoint: int = 0
    ended_at: float = 0.0
    reason: str = ""


class Progress(Struct, frozen=True, array_like=True):
    """A finished step: its number, the total number of steps, the loss, and the time it was finished."""

    step: int
    total: int
    loss: float | None
    at: float


class RunFolder:
    """One run's files. Only the process that holds the lock writes to them, except for the request to stop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.log = path / "log.txt"
        self.adapter = path / "adapter"
        self.checkpoints = Checkpoints(path / "checkpoints")
        self._state = path / "state.json"
        self._progress = path / "progress.jsonl"
        self._stop = path / "stop"
        self._lock = path / "lock"

    def prepare(self) -> None:
        """Create the folder. Raises StorageError."""
        private_folder(self.path)

    def take_lock(self) -> int:
        """Take the lock and return its descriptor, which must stay open. Raises Busy or StorageError."""
        self.prepare()
        try:
            descriptor = os.open(self._lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise storage_error("open the lock", self._lock, error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(descriptor)
            raise _running() from error
        return descriptor

    def check_free(self) -> None:
        """Check that no process is working on the run. Raises Busy."""
        if self.is_locked():
            raise _running()

    def is_locked(self) -> bool:
        """Return whether a process is working on the run."""
        try:
            descriptor = os.open(self._lock, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except OSError:
            return False
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def read_state(self) -> RunState | None:
        """Return the last recorded state, or None before the first start. Raises StorageError for a damaged one."""
        try:
            return msgspec.json.decode(self._state.read_bytes(), type=RunState)
        except FileNotFoundError:
            return None
        except msgspec.DecodeError as error:
            raise StorageError(
                f"{self._state} is damaged: {error}.", hint="Delete it and start again."
            ) from error

    def write_state(self, state: RunState) -> None:
        """Record the state durably. Raises StorageError."""
        write_private_text(self._state, msgspec.json.encode(state).decode() + "\n")

    def add_progress(self, progress: Progress) -> None:
        """Record a finished step. Raises OSError."""
        with self._progress.open("ab") as file:
            file.write(msgspec.json.encode(progress) + b"\n")

    def last_progress(self) -> Progress | None:
        """Return the last finished step."""
        try:
            with self._progress.open("rb") as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
                lines = file.read().splitlines()
        except OSError:
            return None
        for line in reversed(lines):
            with suppress(msgspec.DecodeError):
                return msgspec.json.decode(line, type=Progress)
        return None

    def ask_to_stop(self) -> None:
        """Ask the run to end at the next checkpoint. Raises StorageError."""
        write_private_text(self._stop, f"{time.time()}\n")

    def is_asked_to_stop(self) -> bool:
        """Return whether the run was asked to end."""
        return self._stop.exists()

    def forget_stop(self) -> None:
        """Clear a stop request that was made before this start."""
        self._stop.unlink(missing_ok=True)

    def remove_all(self) -> None:
        """Remove the checkpoints, progress and adapter of an earlier training run."""
        for folder in (self.checkpoints.path, self.adapter, self.path / "served"):
            shutil.rmtree(folder, ignore_errors=True)
        self._progress.unlink(missing_ok=True)
        self._state.unlink(missing_ok=True)

    def shown_phase(self, state: RunState) -> str:
        """Return the phase to display for a run; it is `interrupted` if the run's process is gone."""
        is_open = state.phase in ("loading", "running")
        return "interrupted" if is_open and not self.is_locked() else state.phase


def _running() -> Busy:
    return Busy("This training is already running.", hint="See: hermes-acp train status")


def seconds_left(state: RunState, progress: Progress) -> float | None:
    """Estimate the remaining time in seconds from the steps since the start."""
    done = progress.step - state.from_step
    if done <= 0 or progress.at <= state.started_at:
        return None
    return (progress.at - state.started_at) / done * (progress.total - progress.step)


def in_phase(state: RunState, phase: Phase, reason: str = "") -> RunState:
    """Return a state with another phase."""
    ended = time.time() if phase in ("done", "stopped", "failed") else 0.0
    return structs.replace(state, phase=phase, reason=reason, ended_at=ended)
