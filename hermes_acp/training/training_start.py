"""Start the training process once a person has confirmed the training."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

import msgspec

from hermes_acp.core.errors import BadRequest, TrainingError
from hermes_acp.storage.private_files import storage_error
from hermes_acp.training.run_folder import RunFolder, RunState
from hermes_acp.training.trainer_port import LockedValues, Trainer, TrainingJob, TrainingSchedule
from hermes_acp.training.trainer_process import READY
from hermes_acp.training.training_data import TrainingData
from hermes_acp.training.training_plan import PlanFile
from hermes_acp.workspaces.command_environment import command_environment

QUIET: Final = MappingProxyType(
    {
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "TINKER_TELEMETRY": "0",
        "PYTHONUNBUFFERED": "1",
        "TOKENIZERS_PARALLELISM": "false",
    }
)
"""Variables that keep trainers' libraries from reporting to their vendors."""
LOG_TAIL: Final = 400


def job_of(file: PlanFile, data: TrainingData, digest: str) -> TrainingJob:
    """Return the confirmed job."""
    plan, locked = file.plan, file.plan.locked
    return TrainingJob(
        file.name,
        plan.trainer,
        plan.method,
        str(file.run),
        str(data.path.absolute()),
        data.sha256,
        digest,
        LockedValues(
            _expanded(locked.base_model),
            _expanded(locked.tokenizer),
            locked.learning_rate,
            locked.lora_rank,
            locked.max_length,
            locked.rollout_address,
        ),
        TrainingSchedule(plan.epochs, plan.max_steps, plan.batch_size, plan.checkpoint_every, plan.seed),
    )


def check_resume(run: RunFolder, state: RunState | None, digest: str) -> int:
    """Return the step from which training continues, or 0 for a new training.

    Raises BadRequest if an unfinished training was confirmed with other locked fields.
    """
    _, step = run.checkpoints.newest()
    if state is None or not (step or state.phase == "done"):
        return 0
    if state.digest != digest:
        raise BadRequest(
            "The locked fields, the data or the base model differ from those of the checkpoints.",
            hint="Undo that change, start this training under another name, or use --anew to discard the checkpoints.",
        )
    if state.phase == "done":
        raise BadRequest("This training is done.", hint="Use --anew to train again from the beginning.")
    return step


def start_process(job: TrainingJob, trainer: Trainer, variables: Mapping[str, str]) -> int:
    """Start the training process in a separate session, and return its ID once it holds the run's lock.

    Raises TrainingError if it ends before that, or StorageError.
    """
    run = RunFolder(Path(job.run))
    run.prepare()
    allowed = {name: variables[name] for name in trainer.variables if name in variables}
    try:
        log = run.log.open("ab")
    except OSError as error:
        raise storage_error("open the log", run.log, error) from error
    with log:
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "hermes_acp.training.trainer_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=run.path,
            env={**command_environment(variables), **allowed, **QUIET},
            start_new_session=True,
        )
    assert process.stdin is not None
    assert process.stdout is not None
    with process.stdin as given:
        given.write(msgspec.json.encode(job))
    with process.stdout as answer:
        said = answer.readline()
    if said != READY:
        process.wait()
        tail = run.log.read_text("utf-8", "replace")[-LOG_TAIL:].strip().splitlines()
        raise TrainingError(f"The trainer's process ended immediately: {tail[-1] if tail else 'no message'}")
    return process.pid


def _expanded(name: str) -> str:
    """Return a folder's name with `~` replaced."""
    return str(Path(name).expanduser()) if name.startswith("~") else name
