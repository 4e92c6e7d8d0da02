"""The inputs and reports of a trainer: the port of the plugins in `trainers`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct


class TrainingSchedule(Struct, frozen=True):
    """How long training runs: epochs, or a number of steps instead."""

    epochs: int
    max_steps: int | None
    batch_size: int
    checkpoint_every: int
    seed: int


class LockedValues(Struct, frozen=True):
    """The locked fields as they were confirmed; `tokenizer` is empty for that of the base model."""

    base_model: str
    tokenizer: str
    learning_rate: float
    lora_rank: int
    max_length: int
    rollout_address: str


class TrainingJob(Struct, frozen=True):
    """A confirmed training run. The trainer's process receives it over a pipe, so no file decides what is trained."""

    name: str
    trainer: str
    method: str
    run: str
    data: str
    data_sha256: str
    digest: str
    locked: LockedValues
    schedule: TrainingSchedule


class TrainingMonitor(Protocol):
    """The receiver of a trainer's reports. Training resumes from a checkpoint only if it was reported as complete."""

    def report(self, step: int, total: int, loss: float | None) -> None:
        """Report a finished step."""
        ...

    def should_stop(self) -> bool:
        """Return whether a person asked the training to end at the next checkpoint."""
        ...

    def checkpoint_folder(self, step: int) -> Path:
        """Return the folder for the checkpoint of a step."""
        ...

    def checkpoint_written(self, step: int) -> None:
        """Record that the checkpoint of a step is complete."""
        ...


class TrainingInput(Struct, frozen=True):
    """The input of one run of a trainer; `resume_from` is a complete checkpoint, `output` the adapter's folder."""

    job: TrainingJob
    records: Sequence[dict[str, Any]]
    output: Path
    checkpoints: Path
    resume_from: Path | None
    resume_step: int
    variables: Mapping[str, str]


class Trainer(Protocol):
    """A trainer plugin, whose heavy imports happen in `train`.

    `extra` installs what it needs, `modules` are imported then, `variables` are the keys that it may see.
    """

    extra: str
    modules: Sequence[str]
    methods: Sequence[str]
    variables: Sequence[str]

    def train(self, given: TrainingInput, monitor: TrainingMonitor) -> bool:
        """Train, and write the adapter to `output`; return whether it finished rather than being stopped.

        Blocks. Raises TrainingError, and OSError for a full disk.
        """
        ...
