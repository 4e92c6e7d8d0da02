"""Decide whether the child agents of this process can run in processes of their own.

Imports little: every process decides this, but few start one.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.child_ports import ChildProcesses
from hermes_acp.core.ports.quota_ports import NoQuota, UserQuota

if TYPE_CHECKING:
    from hermes_acp.agent.setup.configuration import Configuration
    from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees


def child_processes(
    environment: Environment,
    configuration: "Configuration",
    quota: UserQuota,
    worktrees: "Callable[[], CardWorktrees]",
) -> Callable[[bool], ChildProcesses | None]:
    """Return a function that creates the runner for child processes, with worktrees if its argument is True.

    It returns None if another process could not reach the same model, or would not count towards the user's quota.
    """

    def make(uses_worktrees: bool) -> ChildProcesses | None:
        from hermes_acp.runs.processes.child_launcher import ChildLauncher

        access = configuration.access
        if configuration.has_own_connection or access.is_changed or not isinstance(quota, NoQuota):
            return None
        return ChildLauncher(environment, access.overrides, worktrees() if uses_worktrees else None)

    return make
