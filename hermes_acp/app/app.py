"""One process's parts, put together as they are needed.

Knows: which parts serve a whole process. Does not know: how any part works, or which face asks.
Nothing heavy is imported before it is needed: what a first turn needs is built in a worker thread, once.
"""

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync

from hermes_acp.assembly.checkpointing import Checkpointing
from hermes_acp.assembly.confinement import shutter_of
from hermes_acp.assembly.context_book import ContextBook
from hermes_acp.assembly.doorman import Doorman
from hermes_acp.assembly.employer import Employer
from hermes_acp.assembly.learning import Learning
from hermes_acp.assembly.librarian import Librarian
from hermes_acp.assembly.lodging import Lodging
from hermes_acp.assembly.notes import PendingNews
from hermes_acp.assembly.outfitter import Outfitter
from hermes_acp.assembly.recollection import Recollection
from hermes_acp.assembly.slash_commands import Hands, slash_commands
from hermes_acp.assembly.tailor import Suppliers, Tailor
from hermes_acp.assembly.toolsmith import Toolsmith
from hermes_acp.assembly.trustee import StillTrusted, Trustee
from hermes_acp.config.access import Access
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports import Clock, Editor, Gate, Ids, Workspace
from hermes_acp.core.tool_ports import Recall
from hermes_acp.core.trust import TrustItem
from hermes_acp.sessions.children import Children
from hermes_acp.sessions.manager import SessionManager
from hermes_acp.sessions.registrar import Registrar
from hermes_acp.sessions.session import Means, Session
from hermes_acp.storage.sessions import SessionStore
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.world import RandomIds, SystemClock, start_collecting

if TYPE_CHECKING:
    from hermes_acp.assembly.model_ways import Connect
    from hermes_acp.config.settings import Settings
    from hermes_acp.config.workspace import WorkspaceSettings
    from hermes_acp.tools.own.shelves import ToolFile
    from hermes_acp.workspaces.drafted import Drafts


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
        self._store = SessionStore(environment.home, lambda session_id: self.recollection.forget(session_id))
        self._children = Children(self._store, clock, self.ids)
        self.recollection = Recollection(environment, self._store)
        self.employer = Employer(environment, lambda: self.sessions.announce_commands())
        self.doorman = Doorman(self.employer, lambda session_id: self.sessions.get(session_id))
        self.trustee = Trustee(environment, self.ids, self._brings)
        self.context = ContextBook(self.trustee)
        shutter = shutter_of(environment, self._settings, self.trustee)
        self.lodging = Lodging(environment, self._settings, shutter)
        self.toolsmith = Toolsmith(environment, self.trustee, self._settings, clock, shutter=shutter)
        self.checkpointing = Checkpointing(environment, self.lodging, self._settings, clock, self.ids)
        self.learning = Learning(environment, clock, self.employer, self._children)
        self.librarian = Librarian(
            environment, self.employer.start, self.learning, self.lodging, self.context
        )
        suppliers = Suppliers(
            self.employer,
            self.librarian,
            self.learning,
            self.recollection,
            self.trustee,
            self.context,
            self.lodging.elsewhere,
        )
        self._tailor = Tailor(environment, suppliers, clock, self._ports)
        self.outfitter = Outfitter(
            Access(environment, dict(overrides or {})),
            self._tailor,
            self.employer,
            clock=clock,
            connect=connect,
            on_models=lambda: self.sessions.announce_options(),
        )
        means = self._means(clock)
        self.recall: Recall = self.recollection
        self.sessions = SessionManager(self._store, means)
        self.registrar = Registrar(self._store, self.sessions, means)

    def _settings(self) -> "Settings | None":
        """Give the settings, once they were read."""
        return self.outfitter.settings

    def _means(self, clock: Clock) -> Means:
        """Give what every session uses alike."""
        pending_news = PendingNews(self._environment.home, lambda: self.employer.is_attended)
        return Means(
            kit=self.outfitter.kit,
            default_mode=self.outfitter.default_mode,
            models=self.outfitter.models,
            shared_tools=self.employer.shared,
            is_attended=lambda: self.employer.is_attended,
            news=lambda: (
                *self._store.news(),
                *self.recollection.news(),
                *self._tailor.news(),
                *pending_news.news(),
            ),
            commands=slash_commands(self._hands(), self._environment.home, self.checkpointing),
            limits=self.outfitter.limits,
            clock=clock,
            ids=self.ids,
            allows_bypass=self.outfitter.allows_bypass,
            welcome=self._welcome,
            attend=self._attend,
            backends=self.lodging.backends,
            settle=self.lodging.settle,
            release=self._release,
            checkpoints=self.checkpointing.of,
        )

    def _hands(self) -> Hands:
        return Hands(
            self.outfitter,
            self.trustee,
            self.context,
            self.librarian,
            self.learning,
            self.recollection,
            self.doorman,
            lambda record: self.lodging.meant_elsewhere(record.options.backend),
        )

    async def run(self) -> None:
        """Do what goes on beside the serving: warm up for the first turn, and keep house."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.keep)
            tasks.start_soon(self._warm_up)

    async def keep(self) -> None:
        """Keep the list of sessions, and the sources of further tools at work; runs beside everything else."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sessions.listing.keep)
            tasks.start_soon(self.employer.run)
            tasks.start_soon(self.recollection.keep)
            tasks.start_soon(self.checkpointing.keeper.keep)

    async def _warm_up(self) -> None:
        if not self._environment.mentions_a_model():
            start_collecting()
            return
        from hermes_acp.telemetry.redaction import make_ready

        with suppress(HermesError):
            await self.outfitter.kit()
            self.recollection.follow_soon()
            await self.outfitter.list_models()
        await run_sync(make_ready, abandon_on_cancel=True)

    async def prepare_recall(self) -> None:
        """Let the model that knows meanings be chosen, as a first turn would; without one, words are searched alone."""
        try:
            await self.outfitter.kit()
        except HermesError:
            return

    def open_workspace(
        self,
        cwd: str,
        roots: tuple[str, ...],
        editor: Editor | None = None,
        drafts: "Drafts | None" = None,
    ) -> Workspace:
        """Open a session's workspace, seen through an editor where there is one; with `drafts` nothing is written."""
        return self.lodging.open(cwd, roots, editor, drafts)

    async def _welcome(self, session: Session, gate: Gate) -> None:
        """Let a session use what its workspace brings along, as far as its user trusts that."""
        place = session.record.cwd
        found, tools = await run_sync(self._look_around, place)
        found = await self.trustee.welcome(session, gate, found)
        servers = found.servers if found else ()
        trusted = [server for server in servers if self.trustee.is_trusted(place, server.item)]
        await self.employer.equip_from_workspace(session, trusted, StillTrusted(self.trustee, place))
        await self.doorman.welcome(session, gate)
        await self.toolsmith.welcome(session, gate, tools, self.lodging.elsewhere(session.workspace))

    def _look_around(self, place: str) -> "tuple[WorkspaceSettings | None, tuple[ToolFile, ...]]":
        """Look at what a folder brings along, in one visit to the disk for all who ask about it. Blocks."""
        return self.trustee.settings_of(place, again=True), self.toolsmith.files(place)

    def _brings(self, place: str) -> tuple[TrustItem, ...]:
        """Give what of a workspace is used once it is trusted, and is not configured anywhere."""
        return (*self.librarian.brings(place), *self.toolsmith.brings(place))

    def _attend(self, session: Session) -> None:
        """Let a session have the skills of its place; they are read in the background."""
        self.librarian.attend(session, self.trustee)

    async def _release(self, session_id: str) -> None:
        """Close what a session's tools have opened, and end what goes on beside it."""
        await self.learning.release(session_id)
        self.recollection.release(session_id)
        await self._tailor.release(session_id)

    def _ports(self) -> dict[str, object]:
        """Give, by name, what tools take beside their workspace; `diagnoses` come with a session's editor."""
        from hermes_acp.agent.delegation import Delegation
        from hermes_acp.agent.inner_calls import InnerCalls

        return {
            "recall": self.recall,
            "delegates": Delegation(self._children, self.outfitter.crew_bounds),
            "inner_calls": InnerCalls(),
            "tool_workshop": self.toolsmith.workshop,
            "diagnoses": None,
            "skills": self.librarian.library,
        }

    def report_bug(self, error: BaseException, trace: str) -> None:
        """Keep a fault of the program's own for its makers."""
        self._bugs.report(error, trace)

    async def aclose(self) -> None:
        """Close every session, the index and the way to the model."""
        await self.sessions.close_all()
        await self.checkpointing.keeper.aclose()
        await self.employer.aclose()
        await self.recollection.aclose()
        await self.outfitter.aclose()
