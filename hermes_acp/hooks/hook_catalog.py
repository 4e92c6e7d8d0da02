"""The hooks of a home folder and of one project, for commands that list and try them."""

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.ports.trust_ports import Trust
from hermes_acp.hooks.hook_answers import HookAnswer, answer_of
from hermes_acp.hooks.hook_checks import find_fault
from hermes_acp.hooks.hook_commands import HookCommands
from hermes_acp.hooks.hook_definitions import CallSubject, Hook
from hermes_acp.hooks.hook_requests import EXAMPLE_ID, encode_request, example_facts
from hermes_acp.workspaces.command_environment import command_environment

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.config.workspace_settings import WorkspaceSettings
from hermes_acp.workspaces.configured_commands import CommandSurroundings


class ListedHook(Struct, frozen=True):
    """A hook and its state: whether it is enabled, whether a project's hook is trusted and, if it cannot work, why."""

    hook: Hook
    is_enabled: bool
    is_trusted: bool
    fault: str = ""


class HookCatalog(Struct, frozen=True):
    """The hooks that apply in one folder."""

    environment: Environment
    surroundings: CommandSurroundings
    cwd: str

    def list(
        self, settings: "Settings", found: "WorkspaceSettings | None", trust: Trust
    ) -> Sequence[ListedHook]:
        """Return all hooks, the user's first. Blocks."""
        own = [ListedHook(Hook(name, each), each.enabled, True) for name, each in settings.hooks.items()]
        entries = found.hooks if found else ()
        shared = [
            ListedHook(Hook(entry.name, entry.settings, entry), True, trust.is_trusted(self.cwd, entry.item))
            for entry in entries
        ]
        variables = command_environment(self.environment.variables)
        return [
            ListedHook(
                each.hook, each.is_enabled, each.is_trusted, find_fault(each.hook, variables, self.cwd)
            )
            for each in (*own, *shared)
        ]

    async def try_hook(self, hook: Hook, subject: CallSubject) -> HookAnswer:
        """Run a hook with an example of its event. Raises WorkspaceError if it cannot start."""
        cwd = os.path.realpath(self.cwd)
        commands = HookCommands(self.surroundings, cwd, (cwd,))
        try:
            request = encode_request(hook, EXAMPLE_ID, cwd, example_facts(hook.event, subject))
            return answer_of(hook.event, await commands.run(hook, request), hook.timeout_s, hook.format)
        finally:
            await commands.close()
