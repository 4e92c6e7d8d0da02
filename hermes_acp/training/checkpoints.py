"""The checkpoints of one training run. Training resumes only from one that is marked as complete."""

import shutil
from pathlib import Path
from typing import Final

from hermes_acp.storage.private_files import write_private_text

PREFIX: Final = "checkpoint-"
"""The naming scheme of Hugging Face trainers for checkpoints."""
COMPLETE: Final = "complete"
"""The file that marks a checkpoint as complete."""


class Checkpoints:
    """The folders of a run's checkpoints, below `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def prepare(self) -> None:
        """Remove checkpoints that a killed trainer left unfinished, and create the folder. Raises OSError."""
        self.remove_incomplete()
        self.path.mkdir(mode=0o700, exist_ok=True)

    def folder(self, step: int) -> Path:
        """Return the folder of a step's checkpoint."""
        return self.path / f"{PREFIX}{step}"

    def mark_complete(self, step: int) -> None:
        """Record that a checkpoint is complete. Raises StorageError."""
        write_private_text(self.folder(step) / COMPLETE, f"{step}\n")

    def newest(self) -> tuple[Path | None, int]:
        """Return the newest complete checkpoint and its step."""
        steps = [step for step in self._steps() if self._is_complete(step)]
        return (self.folder(max(steps)), max(steps)) if steps else (None, 0)

    def remove_incomplete(self) -> None:
        """Remove unfinished checkpoints."""
        for step in self._steps():
            if not self._is_complete(step):
                shutil.rmtree(self.folder(step), ignore_errors=True)

    def _is_complete(self, step: int) -> bool:
        return (self.folder(step) / COMPLETE).is_file()

    def _steps(self) -> list[int]:
        names = [path.name.removeprefix(PREFIX) for path in self.path.glob(f"{PREFIX}*")]
        return [int(name) for name in names if name.isdigit()]
