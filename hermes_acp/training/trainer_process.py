"""The process that trains: `python -m hermes_acp.training.trainer_process`, with a confirmed job on standard input.

It holds the run's lock, records its state, and resumes from the newest complete checkpoint. Like the command that
starts it, it refuses to work for an agent.
"""

import errno
import os
import shutil
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Final

import msgspec

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import HermesError, TrainingError
from hermes_acp.training.caller import look_at_caller
from hermes_acp.training.person_check import why_not_a_person
from hermes_acp.training.run_folder import Progress, RunFolder, RunState, in_phase
from hermes_acp.training.trainer_port import Trainer, TrainingInput, TrainingJob
from hermes_acp.training.trainers import missing_modules, open_trainer
from hermes_acp.training.training_data import read_records

READY: Final = b"ready\n"
"""The line that the process writes to its standard output once it holds the lock."""
FULL: Final = (errno.ENOSPC, errno.EDQUOT)
FULL_WORDS: Final = (
    "No space left on device",
    "os error 28",
    "Disk quota exceeded",
    "file write failed",
    "unexpected pos",
)
"""Messages of libraries about a full disk, which often do not pass on the system's error."""
MIN_FREE_BYTES: Final = 1 << 20


class RunMonitor:
    """Records a trainer's reports in the run's folder."""

    def __init__(self, run: RunFolder, state: RunState) -> None:
        self._run = run
        self.state = state

    def report(self, step: int, total: int, loss: float | None) -> None:
        """Record a finished step."""
        if self.state.phase == "loading":
            self.state = in_phase(self.state, "running")
            self.state = msgspec.structs.replace(self.state, started_at=time.time(), from_step=step)
            self._run.write_state(self.state)
        self._run.add_progress(Progress(step, total, loss, time.time()))

    def should_stop(self) -> bool:
        """Return whether a person asked the training to stop."""
        return self._run.is_asked_to_stop()

    def checkpoint_folder(self, step: int) -> Path:
        """Return the folder for the checkpoint of a step."""
        return self._run.checkpoints.folder(step)

    def checkpoint_written(self, step: int) -> None:
        """Record that a checkpoint is complete."""
        self._run.checkpoints.mark_complete(step)
        self.state = msgspec.structs.replace(self.state, checkpoint=step)
        self._run.write_state(self.state)


def main() -> int:
    """Train and return the exit code."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    variables = read_environment().variables
    if refusal := why_not_a_person(look_at_caller(variables, None), needs_terminal=False):
        sys.stderr.write(f"Only a person can start training ({refusal.kind} {refusal.evidence}).\n")
        return 1
    job = msgspec.json.decode(sys.stdin.buffer.read(), type=TrainingJob)
    run = RunFolder(Path(job.run))
    lock = run.take_lock()
    try:
        run.forget_stop()
        run.checkpoints.prepare()
        resume_from, step = run.checkpoints.newest()
        state = RunState("loading", os.getpid(), job.trainer, job.method, job.digest, time.time(), step, step)
        run.write_state(state)
        _say_ready()
        monitor = RunMonitor(run, state)
        return _train(job, run, monitor, (resume_from, step))
    finally:
        os.close(lock)


def _say_ready() -> None:
    """Signal readiness to the command that started this process, then redirect all output to the log."""
    sys.stdout.buffer.write(READY)
    sys.stdout.buffer.flush()
    os.dup2(2, 1)


def _train(job: TrainingJob, run: RunFolder, monitor: RunMonitor, resume: tuple[Path | None, int]) -> int:
    trainer: Trainer | None = None
    try:
        trainer = open_trainer(job.trainer)
        check_installed(trainer)
        records = read_records(Path(job.data), job.data_sha256, job.method)
        given = TrainingInput(
            job, records, run.adapter, run.checkpoints.path, *resume, read_environment().variables
        )
        is_finished = trainer.train(given, monitor)
        run.write_state(in_phase(monitor.state, "done" if is_finished else "stopped"))
        return 0
    except Exception as error:
        # Any exception of a trainer's libraries is recorded for `train status`, and the process ends.
        traceback.print_exc()
        return _record_failure(run, monitor, error)


def check_installed(trainer: Trainer) -> None:
    """Check that a trainer's dependencies are installed. Raises TrainingError."""
    if missing := missing_modules(trainer):
        from hermes_acp.config.installation import extra_hint

        hint = (
            extra_hint(trainer.extra) if trainer.extra else "Install them in the environment of hermes-acp."
        )
        raise TrainingError(f"Not installed: {', '.join(missing)}.", hint=hint)


def _record_failure(run: RunFolder, monitor: RunMonitor, error: Exception) -> int:
    try:
        run.write_state(in_phase(monitor.state, "failed", failure_reason(error, run.path)))
    except HermesError:
        # If the disk is full, removing incomplete checkpoints makes room to record the reason.
        run.checkpoints.remove_incomplete()
        run.write_state(in_phase(monitor.state, "failed", failure_reason(error, run.path)))
    return error.exit_code if isinstance(error, HermesError) else 1


def failure_reason(error: Exception, folder: Path) -> str:
    """Return why a training run failed, and what to do about it."""
    if isinstance(error, HermesError):
        return error.sentence()
    number = error.errno if isinstance(error, OSError) else None
    free = shutil.disk_usage(folder).free
    if number in FULL or free < MIN_FREE_BYTES or any(words in str(error) for words in FULL_WORDS):
        return (
            f"The disk with {folder} is full ({free >> 20:,} MB are free). Complete checkpoints are kept: free some "
            "space, then start the training again."
        )
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():
        return f"There is not enough memory: {error}. Use a smaller batch_size or max_length."
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else 'no message'}. The log has more."


if __name__ == "__main__":
    sys.exit(main())
