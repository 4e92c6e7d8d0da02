"""Run a repository's checks before a merge: commands that run in the card's worktree and must all succeed.

A repository lists them under `checks` in `.hermes/config.yaml` in the user's own checkout, so changes on the agent's
branch have no effect. Because they execute the agent's code, they run in the sandbox unless the user's settings say
otherwise.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import anyio
from anyio.to_thread import run_sync

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.workspace_ports import Command
from hermes_acp.runs.merging import merge_messages as words
from hermes_acp.runs.merging.merge_queue import CheckFailure
from hermes_acp.workspaces.configured_commands import CommandSurroundings, open_commands
from hermes_acp.workspaces.local_commands import LocalCommands

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings

CHECK_VARIABLE: Final = "HERMES_ACP_CHECK"
"""Set in the environment of checks: an agent that a check starts takes no cards."""


class RepositoryChecks:
    """Runs the checks of repositories. `settings` reads the user's settings, which can change between merges."""

    def __init__(
        self, settings: "Callable[[], Settings]", surroundings: CommandSurroundings, private: Path
    ) -> None:
        """Store the arguments.

        `private` is the folder with the homes of all profiles, which is part of no repository.
        """
        self._settings = settings
        self._surroundings = surroundings
        self._private = private

    async def run(self, repository: str, worktree: str, commands: Sequence[str]) -> CheckFailure | None:
        """Run a repository's own checks and these commands in a worktree, stopping at the first failure.

        Raises ConfigError, and WorkspaceError if they cannot be confined as required.
        """
        settings = await run_sync(self._settings)
        own = await run_sync(self._checks_of, repository) or settings.checks
        lines = tuple(dict.fromkeys((*own, *commands)))
        if not lines:
            return None
        runner = await run_sync(open_commands, self._surroundings, worktree, (worktree,))
        try:
            for line in lines:
                section = settings.boards
                command = Command(
                    line,
                    worktree,
                    section.check_timeout_s,
                    "must" if section.confine_checks else "never",
                    is_quiet=True,
                    variables=((CHECK_VARIABLE, "1"),),
                )
                if failure := await _failure_of(runner, command):
                    return failure
        finally:
            with anyio.CancelScope(shield=True):
                await runner.close()
        return None

    def _checks_of(self, repository: str) -> tuple[str, ...]:
        from hermes_acp.config.workspace_settings import read_workspace

        return read_workspace(repository, str(self._private.resolve())).checks


async def _failure_of(runner: LocalCommands, command: Command) -> CheckFailure | None:
    """Run one check; return how it failed, or None. Raises WorkspaceError if it cannot start."""
    if command.must_be_confined and not runner.confines(command):
        raise WorkspaceError(words.NO_SANDBOX, hint=words.NO_SANDBOX_HINT)
    result = await runner.run_piped(command, b"")
    if result.exit_code == 0:
        return None
    how = words.EXIT_CODE.format(code=result.exit_code)
    if result.timed_out:
        how = words.CHECK_TIMED_OUT.format(seconds=command.timeout_s)
    return CheckFailure(command.line, how, f"{result.output}\n{result.errors}\n{result.remarks}")
