"""One process's parts, put together as they are needed.

Knows: which parts serve a whole process. Does not know: how any part works, or which face asks.
Nothing heavy is imported before it is needed: what a first turn needs is built in a worker thread, once.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio

from hermes_acp.assembly.employer import Employer
from hermes_acp.assembly.outfitter import Outfitter
from hermes_acp.assembly.slash_commands import slash_commands
from hermes_acp.config.access import Access
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports import Clock, Editor, Ids, Workspace
from hermes_acp.sessions.children import Children
from hermes_acp.sessions.manager import SessionManager
from hermes_acp.sessions.registrar import Registrar
from hermes_acp.sessions.session import Means
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.world import RandomIds, SystemClock, start_collecting

if TYPE_CHECKING:
    from hermes_acp.agent.delegation import Delegation
    from hermes_acp.assembly.model_ways import Connect


class House:
    """What all sessions and faces of a process share."""

    def __init__(
        self,
        environment: Environment,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        overrides: Mapping[str, Any] | None = None,
        connect: "Connect | None" = None,
    ) -> None:
        """Prepare without touching disk or network.

        `overrides` are settings that flags set; `connect` opens the way to a chosen model, by default the vendor's.
        """
        clock, self.ids = clock or SystemClock(), ids or RandomIds()
        self._environment = environment
        self.offers_unstable = environment.offers_unstable
        self.offers_draft_v2 = environment.offers_draft_v2
        self._bugs = BugLog(environment.home)
        self.employer = Employer(environment, lambda: self.sessions.announce_commands())
        store = SessionStore(environment.home)
        self.outfitter = Outfitter(
            environment,
            Access(environment, dict(overrides or {})),
            self.employer,
            clock=clock,
            connect=connect,
            on_models=lambda: self.sessions.announce_options(),
            ports=lambda: {
                "recall": store.words,
                "delegates": self._delegation(Children(store, clock, self.ids)),
            },
        )
        means = Means(
            kit=self.outfitter.kit,
            default_mode=self.outfitter.default_mode,
            models=self.outfitter.models,
            shared_tools=self.employer.shared,
            news=store.news,
            commands=slash_commands(self.outfitter, environment.home),
            limits=self.outfitter.limits,
            clock=clock,
            ids=self.ids,
        )
        self.sessions = SessionManager(store, means)
        self.registrar = Registrar(store, self.sessions, means)

    async def run(self) -> None:
        """Do what goes on beside the serving: warm up for the first turn, and keep house."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.keep)
            tasks.start_soon(self._warm_up)

    async def keep(self) -> None:
        """Keep the list of sessions, and the sources of further tools at work; runs beside everything else."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sessions.keep_index)
            tasks.start_soon(self.employer.run)

    async def _warm_up(self) -> None:
        if not self._environment.mentions_a_model():
            start_collecting()
            return
        try:
            await self.outfitter.kit()
            await self.outfitter.list_models()
        except HermesError:
            return

    def open_workspace(self, cwd: str, roots: tuple[str, ...], editor: Editor | None = None) -> Workspace:
        """Open a session's workspace, seen through an editor where there is one."""
        from hermes_acp.workspaces.backends.local import BACKEND
        from hermes_acp.workspaces.editor_first import EditorFirst

        local = BACKEND.open(cwd, roots, self._environment.variables, str(self._environment.home.resolve()))
        return EditorFirst(editor, local) if editor else local

    def _delegation(self, children: Children) -> "Delegation":
        from hermes_acp.agent.delegation import Delegation

        return Delegation(children, self.outfitter.bounds)

    def report_bug(self, error: BaseException, trace: str) -> None:
        """Keep a fault of the program's own for its makers."""
        self._bugs.report(error, trace)

    async def aclose(self) -> None:
        """Close every session, the index and the way to the model."""
        await self.sessions.close_all()
        await self.employer.aclose()
        await self.outfitter.aclose()
