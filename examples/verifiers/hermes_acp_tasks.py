"""Ten toy tasks for verifiers: files, a prompt, and a check that returns 1.0 if the task is done.

`--env.taskset.folder DIR` uses your own folder of such TOML files. The agent never sees the check: it is copied into
the runtime after the agent has ended.
"""

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import verifiers.v1 as vf
from pydantic import Field

TASKS: Final = Path(__file__).resolve().parents[2] / "bench" / "evaluation_tasks"
PYTHON: Final = ("python3", "-B", "-c")


class ToyData(vf.TaskData):
    """The contents of a task."""

    files: dict[str, str] = Field(default_factory=dict)
    check: str


class ToyTask(vf.Task[ToyData]):
    """A task in a folder of files."""

    @property
    def key(self) -> str:
        """The name of the task's file."""
        return self.data.id or self.hash

    async def setup(self, trace: vf.Trace, runtime: vf.Runtime) -> None:
        """Write the files."""
        for name, text in self.data.files.items():
            await runtime.write(name, text.encode())

    @vf.reward
    async def passed(self, runtime: vf.Runtime) -> float:
        """Return 1.0 if the check passes."""
        done = await runtime.run([*PYTHON, f"import sys; sys.path.insert(0, '')\n{self.data.check}"], {})
        return float(done.exit_code == 0)


class ToyConfig(vf.TasksetConfig):
    """Which folder has the tasks."""

    folder: Path = TASKS


class ToyTasks(vf.Taskset[ToyTask, ToyConfig]):
    """The tasks of a folder, by name."""

    def load(self) -> Iterable[ToyTask]:
        """Yield the tasks."""
        for path in sorted(self.config.folder.glob("*.toml")):
            written = tomllib.loads(path.read_text(encoding="utf-8"))
            data = ToyData(
                id=path.stem, prompt=written["prompt"], files=written.get("files", {}), check=written["check"]
            )
            yield ToyTask(data, self.config.task)


__all__ = ["ToyTasks"]
