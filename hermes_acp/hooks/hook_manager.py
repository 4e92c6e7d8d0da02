"""Find the hooks of each session: those in the user's settings, and those of its workspace once they are trusted.

Sessions without hooks import only this module of the package.
"""

import os
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.events import Noticed
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.session_ports import RecordedSession
from hermes_acp.core.ports.trust_ports import Trust
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.config.workspace_settings import HookEntry, WorkspaceSettings
    from hermes_acp.hooks.hook_definitions import Hook
    from hermes_acp.hooks.session_hooks import SessionHooks

IS_OFF: Final = "Hooks are off, because this agent was started by a hook (HERMES_ACP_HOOK is set)."
ELSEWHERE: Final = "The hooks of this project are not used, because the session's files are on {backend}."


def load_hooks() -> None:
    """Import the modules that hooks need, so that the event loop does not have to wait for that. Blocks."""
    import_module("hermes_acp.hooks.hook_commands")
    import_module("hermes_acp.hooks.session_hooks")


class HookManager:
    """The hooks of all sessions of a process."""

    def __init__(
        self,
        environment: Environment,
        settings: "Callable[[], Settings | None]",
        trust: Trust,
        *,
        confinement: ConfinementInputs,
        start: StartTask,
        is_attended: Callable[[], bool],
    ) -> None:
        """Store the arguments; nothing is read until first use. `settings` returns the settings once they are loaded.

        `start` starts a background task; `is_attended` says whether a person attends the sessions.
        """
        self._environment = environment
        self._settings = settings
        self._trust = trust
        self._start = start
        self._is_attended = is_attended
        self._confinement = confinement
        self._is_off = "HERMES_ACP_HOOK" in environment.variables
        self._has_told_off = False
        self._sessions: dict[str, SessionHooks] = {}

    def of(self, session: RecordedSession) -> "SessionHooks | None":
        """Return a session's hooks, or None if it has none."""
        found = self._sessions.get(session.record.session_id)
        settings = self._settings()
        if found or self._is_off or settings is None or not settings.hooks:
            return found
        return self._open(session)

    async def welcome(
        self, session: RecordedSession, found: "WorkspaceSettings | None", elsewhere: str
    ) -> None:
        """Attach the trusted hooks of a session's workspace, before a turn.

        `elsewhere` names the backend that has the session's files, if they are not on this machine.
        """
        if self._is_off:
            self._report_disabled(session)
            return
        entries = found.hooks if found else ()
        hooks = self.of(session)
        if hooks is None and not entries:
            return
        cwd = session.record.cwd
        trusted = [entry for entry in entries if self._trust.is_trusted(cwd, entry.item)]
        if hooks is None and trusted:
            await run_sync(load_hooks)
            hooks = self._open(session)
        if hooks is None:
            return
        if elsewhere and trusted:
            hooks.report(ELSEWHERE.format(backend=elsewhere))
        hooks.share([] if elsewhere else [self._shared(entry) for entry in trusted])

    async def release(self, session_id: str) -> None:
        """Stop everything that a session's hooks have left running."""
        if hooks := self._sessions.pop(session_id, None):
            await hooks.close()

    def _report_disabled(self, session: RecordedSession) -> None:
        """Report, once per process, that the user's hooks do not run."""
        settings = self._settings()
        if settings and settings.hooks and not self._has_told_off:
            self._has_told_off = True
            session.ledger.emit(Noticed("warning", IS_OFF))

    def _open(self, session: RecordedSession) -> "SessionHooks":
        from hermes_acp.hooks.hook_commands import HOOK_VARIABLE, HookCommands
        from hermes_acp.hooks.hook_definitions import Hook
        from hermes_acp.hooks.hook_texts import HookTexts
        from hermes_acp.hooks.session_hooks import Background, SessionHooks
        from hermes_acp.workspaces.configured_commands import surroundings_of
        from injection_scanner.foreign_text import InjectionScanner

        settings, record = self._settings(), session.record
        own = settings.hooks.items() if settings else ()
        home = str(self._environment.home.resolve())
        surroundings = surroundings_of(
            self._environment, self._settings, self._confinement, {HOOK_VARIABLE: "1"}
        )
        here = os.path.isdir(record.cwd)
        commands = HookCommands(surroundings, record.cwd if here else home, record.roots if here else (home,))
        hooks = SessionHooks(
            session,
            [Hook(name, each) for name, each in own if each.enabled],
            commands,
            HookTexts(InjectionScanner),
            Background(self._start, self._is_attended),
        )
        self._sessions[record.session_id] = hooks
        return hooks

    def _shared(self, entry: "HookEntry") -> "Hook":
        from hermes_acp.hooks.hook_definitions import Hook

        settings = self._settings()
        has_network = settings is not None and settings.sandbox.network != "off"
        return Hook(entry.name, entry.settings, entry, has_network=has_network)
