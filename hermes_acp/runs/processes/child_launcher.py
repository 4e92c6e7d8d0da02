"""Start the processes of child agents, each in its own git worktree if configured."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import Busy
from hermes_acp.core.ports.child_ports import DelegatedWork, ParentAgent
from hermes_acp.core.ports.run_ports import DriveOutcome, RunMessage, RunOrder
from hermes_acp.runs.processes.process_driver import Delegated, ProcessDriver, drive_line
from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees
from hermes_acp.storage.private_files import take_lock, unlock_and_close

BOARD: Final = "children"
"""The name under which the worktrees of child agents are kept, next to those of cards."""
EXPORT_PREFIX: Final = "OTEL_"
"""The prefix of the variables that make a process export spans; the parent exports those of its children."""


class ChildLauncher:
    """Runs child agents in processes; implements `ChildProcesses`."""

    def __init__(
        self, environment: Environment, overrides: Mapping[str, Any], worktrees: CardWorktrees | None
    ) -> None:
        """Create the launcher; `overrides` are the settings from this process's flags, which are passed on."""
        self._environment = environment
        self._overrides = overrides
        self._worktrees = worktrees

    @property
    def uses_worktrees(self) -> bool:
        """Whether each child works in its own git worktree."""
        return self._worktrees is not None

    async def run(
        self, order: RunOrder, work: DelegatedWork, parent: ParentAgent, note_progress: Callable[[], None]
    ) -> DriveOutcome:
        """Start a process that carries out the work in the session of `order`, and wait for it to exit."""
        environment = self._environment
        variables = {
            name: value for name, value in environment.variables.items() if not name.startswith(EXPORT_PREFIX)
        }
        line = drive_line(environment.profile, allows_bypass=order.mode == "bypass")
        delegated = Delegated(work, parent, self._overrides, variables)
        driver = ProcessDriver(line, environment.home, delegated=delegated)
        return await driver.drive(order, _ParentLease(note_progress))

    async def open_worktree(self, name: str, folder: str) -> str:
        """Create a git worktree of a folder's repository, and return the corresponding folder in it.

        Worktrees that a killed process left behind are removed first. Raises WorkspaceError or StorageError.
        """
        if self._worktrees is None:
            return folder
        for left in await self._worktrees.held(BOARD):
            if not await run_sync(_is_open, self._record_of(left)):
                await self.close_worktree(left)
        return (await self._worktrees.open(BOARD, name, folder)).folder

    async def close_worktree(self, name: str) -> str:
        """Remove a worktree; return the branch that contains its work, or an empty string if there is none.

        Raises WorkspaceError or StorageError.
        """
        if self._worktrees is None:
            return ""
        await self._worktrees.remove(BOARD, name, _is_not_wanted)
        records = self._worktrees.records
        if record := await run_sync(records.read, BOARD, name):
            await run_sync(records.forget, record)
            return record.branch
        return ""

    def _record_of(self, name: str) -> Path:
        """Return the path of the record whose session has a child with this worktree; that session locks it."""
        return self._environment.home / "sessions" / f"{name.partition('.')[0]}.jsonl"


class _ParentLease:
    """The lease of a child's process: its parent waits for it, and nobody can take it over."""

    epoch = 1
    messages: Sequence[RunMessage] = ()

    def __init__(self, note_progress: Callable[[], None]) -> None:
        self._note_progress = note_progress

    def note_progress(self) -> None:
        """Report progress."""
        self._note_progress()

    async def confirm(self) -> bool:
        """Return True: the process exits when its parent does."""
        return True


async def _is_not_wanted() -> bool:
    return False


def _is_open(path: Path) -> bool:
    """Return whether any process has a session open."""
    try:
        descriptor = take_lock(path)
    except Busy:
        return True
    except OSError:
        return False
    unlock_and_close(descriptor)
    return False
