"""One process's parts, put together as they are needed.

Knows: which parts serve a whole process. Does not know: how any part works, or which face asks.
Nothing heavy is imported before it is needed: what a first turn needs is built in a worker thread, once.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import anyio

from hermes_acp.assembly.checkpointing import Checkpointing
from hermes_acp.assembly.doorman import Doorman
from hermes_acp.assembly.employer import Employer
from hermes_acp.assembly.librarian import Librarian
from hermes_acp.assembly.lodging import Lodging
from hermes_acp.assembly.outfitter import Outfitter, Suppliers
from hermes_acp.assembly.slash_commands import slash_commands
from hermes_acp.assembly.trustee import Trustee
from hermes_acp.config.access import Access
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports import Clock, Editor, Gate, Ids, Workspace
from hermes_acp.sessions.children import Children
from hermes_acp.sessions.manager import SessionManager
from hermes_acp.sessions.registrar import Registrar
from hermes_acp.sessions.session import Means, Session
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.world import RandomIds, SystemClock, start_collecting

if TYPE_CHECKING:
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
        self.doorman = Doorman(self.employer, lambda session_id: self.sessions.get(session_id))
        self.librarian = Librarian(environment, self.employer.start)
        self.trustee = Trustee(environment, self.ids, self.librarian.brings)
        self.lodging = Lodging(environment, lambda: self.outfitter.settings)
        self.checkpointing = Checkpointing(
            environment, self.lodging, lambda: self.outfitter.settings, clock, self.ids
        )
        store = SessionStore(environment.home)
        self.outfitter = Outfitter(
            Access(environment, dict(overrides or {})),
            Suppliers(self.employer, self.librarian, self.trustee),
            clock=clock,
            connect=connect,
            on_models=lambda: self.sessions.announce_options(),
            ports=lambda: self._ports(store, Children(store, clock, self.ids)),
        )
        means = Means(
            kit=self.outfitter.kit,
            default_mode=self.outfitter.default_mode,
            models=self.outfitter.models,
            shared_tools=self.employer.shared,
            news=store.news,
            commands=slash_commands(
                self.outfitter, self.trustee, environment.home, self.checkpointing.keeper, self.doorman
            ),
            limits=self.outfitter.limits,
            clock=clock,
            ids=self.ids,
            allows_bypass=self.outfitter.allows_bypass,
            welcome=self._welcome,
            attend=self._attend,
            backends=self.lodging.backends,
            settle=self.lodging.settle,
            release=self.outfitter.outer.release,
            checkpoints=self.checkpointing.of,
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
            tasks.start_soon(self.checkpointing.keeper.keep)

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
        return self.lodging.open(cwd, roots, editor)

    async def _welcome(self, session: Session, gate: Gate) -> None:
        """Let a session use what its workspace brings along, as far as its user trusts that."""
        found = await self.trustee.welcome(session, gate)
        place = session.record.cwd
        servers = found.servers if found else ()
        trusted = [server for server in servers if self.trustee.is_trusted(place, server.item)]
        await self.employer.equip_from_workspace(session, trusted)
        await self.doorman.welcome(session, gate)

    def _attend(self, session: Session) -> None:
        """Let a session have the skills of its place; they are read in the background."""
        self.librarian.attend(session, self.trustee)

    def _ports(self, store: SessionStore, children: Children) -> dict[str, object]:
        """Give, by name, what tools take beside their workspace; `diagnoses` come with a session's editor."""
        from hermes_acp.agent.delegation import Delegation
        from hermes_acp.agent.inner_calls import InnerCalls

        return {
            "recall": store.words,
            "delegates": Delegation(children, self.outfitter.bounds),
            "inner_calls": InnerCalls(),
            "diagnoses": None,
            "skills": self.librarian.library,
        }

    def report_bug(self, error: BaseException, trace: str) -> None:
        """Keep a fault of the program's own for its makers."""
        self._bugs.report(error, trace)

    async def aclose(self) -> None:
        """Close every session, the index and the way to the model."""
        await self.sessions.close_all()
        await self.employer.aclose()
        await self.outfitter.aclose()
