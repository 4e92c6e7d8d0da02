"""The port of the plugins in `trainers`: the inputs and reports of a trainer."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from msgspec import Struct


class TrainingSchedule(Struct, frozen=True):
    """The length of the training: epochs or, instead, a number of steps."""

    epochs: int
    max_steps: int | None
    batch_size: int
    checkpoint_every: int
    seed: int


class LockedValues(Struct, frozen=True):
    """The locked fields as they were confirmed; `tokenizer` is empty for the base model's tokenizer."""

    base_model: str
    tokenizer: str
    learning_rate: float
    lora_rank: int
    max_length: int
    rollout_address: str


class TrainingJob(Struct, frozen=True):
    """A confirmed training run.

    The trainer's process receives it over a pipe, so that no file decides what is trained.
    """

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
    """The receiver of a trainer's reports. Training only resumes from checkpoints that were reported as complete."""

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

    `extra` installs its dependencies, `modules` are the modules that it imports, and `variables` are the keys that it
    may see.
    """

    extra: str
    modules: Sequence[str]
    methods: Sequence[str]
    variables: Sequence[str]

    def train(self, given: TrainingInput, monitor: TrainingMonitor) -> bool:
        """Train and write the adapter to `output`; return whether training finished rather than being stopped.

        Blocks. Raises TrainingError, and OSError for a full disk.
        """
        ...
