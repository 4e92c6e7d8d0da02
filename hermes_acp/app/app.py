"""The composition root, which connects the parts of one process.

Heavy imports are deferred: the dependencies of the first turn are created once, in a worker thread.
"""

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, Any

import anyio
from anyio.to_thread import run_sync

from hermes_acp.agent.setup.configuration import Configuration
from hermes_acp.agent.setup.turn_dependencies import TurnDependenciesFactory, TurnServices, skill_similarity
from hermes_acp.app.confinement import confinement_inputs
from hermes_acp.app.service_factories import (
    build_board_coordinator,
    build_board_service,
    build_card_worktrees,
    build_mcp_manager,
    build_recall_service,
    build_run_service,
    build_session_store,
    build_tracers,
    build_usage_service,
    unattended_work,
)
from hermes_acp.clock import SystemClock
from hermes_acp.config.environment import Environment
from hermes_acp.config.provider_access import ProviderAccess
from hermes_acp.context.context_approvals import ContextApprovals
from hermes_acp.core.errors import HermesError
from hermes_acp.core.ports.child_ports import ChildServices
from hermes_acp.core.ports.quota_ports import NoQuota, UserQuota
from hermes_acp.core.ports.runtime_ports import Clock, Ids
from hermes_acp.core.ports.session_ports import SessionObserver
from hermes_acp.core.ports.trust_ports import TrustItem
from hermes_acp.core.ports.workspace_ports import Editor, Workspace
from hermes_acp.garbage_collection import enable_garbage_collection
from hermes_acp.hooks.hook_manager import HookManager
from hermes_acp.ids import RandomIds
from hermes_acp.mcp.sign_in.oauth_coordinator import OAuthCoordinator
from hermes_acp.memory.memory_notes import PendingNoteNotices
from hermes_acp.models.transcription.voice_service import VoiceService
from hermes_acp.policy.workspace_trust import WorkspaceTrust
from hermes_acp.runs.board.board_followers import BoardFollowers
from hermes_acp.runs.processes.child_processes import child_processes
from hermes_acp.runs.run_service import RunService
from hermes_acp.sessions.builtin_commands import CommandServices, builtin_commands
from hermes_acp.sessions.checkpoint_service import CheckpointService
from hermes_acp.sessions.child_sessions import ChildSessions
from hermes_acp.sessions.clients.departures import Departures
from hermes_acp.sessions.clients.turn_tasks import TurnTasks
from hermes_acp.sessions.process_lifecycle import ProcessLifecycle
from hermes_acp.sessions.session_admin import SessionAdmin
from hermes_acp.sessions.session_creation import SessionCreator
from hermes_acp.sessions.session_manager import SessionManager
from hermes_acp.sessions.session_services import SessionServices
from hermes_acp.sessions.tool_sources import ToolSourceRunner
from hermes_acp.sessions.workspace_admission import WorkspaceAdmission
from hermes_acp.skills.skill_learning import SkillLearning
from hermes_acp.skills.skill_service import SkillService
from hermes_acp.telemetry.bug_log import BugLog
from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager
from hermes_acp.workspaces.backend_selector import BackendSelector
from hermes_acp.workspaces.sandbox_setup import ConfinementInputs

if TYPE_CHECKING:
    from hermes_acp.models.model_connections import Connect
    from hermes_acp.runs.board.board_coordinator import BoardCoordinator
    from hermes_acp.runs.board.board_service import BoardService
    from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees
    from hermes_acp.storage.watching.folder_watcher import FolderWatcher
    from hermes_acp.workspaces.draft_workspace import Drafts


class App:
    """The services that all sessions and frontends of a process share."""

    def __init__(
        self,
        environment: Environment,
        *,
        clock: Clock | None = None,
        ids: Ids | None = None,
        overrides: Mapping[str, Any] | None = None,
        connect: "Connect | None" = None,
        observers: tuple[SessionObserver, ...] = (),
        quota: UserQuota | None = None,
    ) -> None:
        """Touch neither disk nor network. `overrides` are settings from flags; `connect` connects to a model."""
        self.ids, self._quota, clock = ids or RandomIds(), quota or NoQuota(), clock or SystemClock()
        self._environment, self._clock, self._bugs = environment, clock, BugLog(environment.home)
        self.offers_unstable, self.offers_draft_v2 = environment.offers_unstable, environment.offers_draft_v2
        self._store = build_session_store(environment, self._forget)
        access = ProviderAccess(environment, dict(overrides or {}))
        self.recall_service = build_recall_service(environment, self._store)
        self.voice_service = VoiceService(environment, access.read)
        runner = self._background = ToolSourceRunner()
        self._observers = (*observers, self._board_followers())
        self.mcp_manager = build_mcp_manager(environment, runner, lambda: self.sessions.announce_commands())
        self.configuration = Configuration(
            access,
            lambda settings, connections, news: self._turn_factory.make(settings, connections, news),
            self.mcp_manager,
            clock=clock,
            connect=connect,
            on_models=lambda: self.sessions.announce_options(),
        )
        self.workspace_trust = WorkspaceTrust(environment, self.ids, self._trust_items)
        self.context = ContextApprovals(self.workspace_trust, self.workspace_trust.trusted)
        settings = self.configuration.settings
        confinement = self._confinement = confinement_inputs(environment, settings, self.workspace_trust)
        self.backend_selector = BackendSelector(environment, settings, confinement)
        self.custom_tools = CustomToolManager(
            environment, self.workspace_trust, settings, clock, confinement=confinement
        )
        self.hook_manager = self._hooks(confinement)
        elsewhere, watcher = self.backend_selector.elsewhere, lambda: self.folder_watcher
        self.checkpoint_service = CheckpointService(environment, elsewhere, settings, clock, self.ids)
        self.learning = SkillLearning(environment, clock)
        self.skill_service = SkillService(
            environment,
            self._background.start,
            self.learning,
            elsewhere=elsewhere,
            remote_backend_for=self.backend_selector.remote_backend_for,
            admits=self.context.admits_skill_file,
            watcher=watcher,
        )
        self._turn_factory = TurnDependenciesFactory(environment, self._turn_services(clock), clock, self.ids)
        creator = self.session_creator = SessionCreator(self._store, clock, self.ids, environment.is_foreign)
        self._tracers = build_tracers(environment, clock, self._background.start, self._bugs)
        self.sessions = SessionManager(self._store, self._services(), clock, creator, self._background.start)
        self.departures = Departures(self.sessions)
        self.turn_tasks = TurnTasks(self._background.start, self.departures, self.report_bug)
        self.session_admin = SessionAdmin(self._store, self.sessions, self.session_creator)
        self.run_service, self.usage_service = self._runs(clock), build_usage_service(environment)

    def _board_followers(self) -> BoardFollowers:
        """Return the service that shows boards in the sessions that follow them."""
        return BoardFollowers(
            lambda: self.board_service,
            lambda session_id: self.sessions.get(session_id),
            self._background.start,
        )

    def _runs(self, clock: Clock) -> RunService:
        """Return the run service of the home folder; its runs work in sessions of this process."""
        return build_run_service(
            self._environment,
            (clock, self.ids, self._quota),
            self._store,
            self.sessions,
            self.configuration,
            open_workspace=lambda _, cwd, roots: self.open_workspace(cwd, roots),
            report_bug=self.report_bug,
            boards=lambda: (self.board_service, self.card_worktrees),
        )

    @cached_property
    def board_service(self) -> "BoardService":
        """The boards in the home folder."""
        return build_board_service(self._environment, self._clock, self.run_service)

    @cached_property
    def card_worktrees(self) -> "CardWorktrees":
        """The worktrees of the cards on boards."""
        return build_card_worktrees(self._environment, self.workspace_trust)

    @cached_property
    def folder_watcher(self) -> "FolderWatcher":
        """The process's only folder watcher; first used in a worker thread."""
        from hermes_acp.storage.watching.folder_watcher import FolderWatcher

        return FolderWatcher(self._background.start)

    def board_coordinator(self, only: Collection[str] = ()) -> "BoardCoordinator":
        """Return the coordinator for all boards, or only for those named."""
        services = (self.board_service, self.card_worktrees, self.folder_watcher)
        return build_board_coordinator(self._environment, services, self._confinement, self.ids, only)

    def _hooks(self, confinement: ConfinementInputs) -> HookManager:
        """Return the manager for the hooks of all sessions."""
        return HookManager(
            self._environment,
            self.configuration.settings,
            self.workspace_trust,
            confinement=confinement,
            start=self._background.start,
            is_attended=lambda: self.mcp_manager.is_attended,
        )

    def _turn_services(self, clock: Clock) -> TurnServices:
        """Return the services shared by all turns."""
        quota, configuration = self._quota, self.configuration
        processes = child_processes(self._environment, configuration, quota, lambda: self.card_worktrees)
        return TurnServices(
            self.mcp_manager,
            self.skill_service,
            self.learning,
            self.recall_service,
            self.custom_tools,
            self.workspace_trust,
            self.context,
            self.backend_selector.elsewhere,
            self._background.start,
            ChildServices(ChildSessions(self._store, clock, self.ids), processes),
            self._quota,
            lambda: unattended_work(self.run_service, lambda: self.board_service, self._environment),
        )

    def _services(self) -> SessionServices:
        """Return the services shared by all sessions."""
        oauth_coordinator = OAuthCoordinator(
            self.mcp_manager, lambda session_id: self.sessions.get(session_id), self._background.start
        )
        admission = WorkspaceAdmission(
            self.workspace_trust,
            self.mcp_manager,
            oauth_coordinator,
            self.custom_tools,
            self.hook_manager,
            self.backend_selector.elsewhere,
        )
        pending_notes = PendingNoteNotices(self._environment.home, lambda: self.mcp_manager.is_attended)
        lifecycle = ProcessLifecycle(
            admission,
            self.skill_service,
            self.checkpoint_service,
            self._turn_factory,
            (self._store, self.recall_service, self._turn_factory, pending_notes, *self._tracers),
            (*self._observers, *self._tracers),
            self._tracers,
        )
        return SessionServices(
            self.configuration,
            self.backend_selector,
            self.mcp_manager,
            lifecycle,
            builtin_commands(self._command_services(oauth_coordinator)),
            self.ids,
            self._quota,
        )

    def _command_services(self, oauth_coordinator: OAuthCoordinator) -> CommandServices:
        return CommandServices(
            self.configuration,
            self.workspace_trust,
            self.context,
            self.skill_service,
            self.learning,
            oauth_coordinator,
            self.checkpoint_service,
            lambda record: self.backend_selector.remote_backend_for(record.options.backend),
            lambda: skill_similarity(self.recall_service),
            self._environment.home,
            self._store.path_of,
            lambda: self.board_service,
        )

    async def run(self) -> None:
        """Run background work: prepare for the first turn, and clean up."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.keep)
            tasks.start_soon(self._warm_up)

    async def keep(self) -> None:
        """Keep the list of sessions up to date, and run tool sources; runs in the background."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.sessions.listing.keep)
            tasks.start_soon(self._background.run)
            tasks.start_soon(self.recall_service.keep)
            tasks.start_soon(self.checkpoint_service.keeper.keep)
            tasks.start_soon(self._store.sharing.keep)

    async def _warm_up(self) -> None:
        if not self._environment.mentions_a_model():
            enable_garbage_collection()
            return
        from hermes_acp.telemetry.redaction import compile_patterns

        with suppress(HermesError):
            await self.configuration.deps()
            self.recall_service.follow_soon()
            await self.configuration.list_models()
        await run_sync(compile_patterns, abandon_on_cancel=True)

    async def prepare_recall(self) -> None:
        """Choose the embedding model, as a first turn would; without one, search matches words only."""
        try:
            await self.configuration.deps()
        except HermesError:
            return

    def open_workspace(
        self,
        cwd: str,
        roots: tuple[str, ...],
        editor: Editor | None = None,
        drafts: "Drafts | None" = None,
        variables: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Open a session's workspace, through an editor if there is one; with `drafts`, nothing is written to disk.

        Commands on this machine see `variables`, by default those of this process.
        """
        return self.backend_selector.open(cwd, roots, editor, drafts, variables)

    async def _forget(self, session_id: str) -> None:
        """Delete the data of a deleted session from the other stores."""
        await self.recall_service.forget(session_id)
        await self.checkpoint_service.forget(session_id)

    def _trust_items(self, place: str) -> tuple[TrustItem, ...]:
        """Return the workspace contents that need no configuration: once trusted, they are used."""
        return (*self.skill_service.trust_items(place), *self.custom_tools.trust_items(place))

    def report_bug(self, error: BaseException, trace: str) -> None:
        """Record a bug in the program for its maintainers."""
        self._bugs.report(error, trace)

    async def aclose(self) -> None:
        """Close every session, the index and the model connections."""
        await self.run_service.aclose()
        await self.sessions.close_all()
        if "board_service" in vars(self):
            await self.board_service.aclose()
        await self.checkpoint_service.keeper.aclose()
        await self.mcp_manager.aclose()
        await self.recall_service.aclose()
        await self.voice_service.aclose()
        self.usage_service.close()
        await self.configuration.aclose()
        for tracer in self._tracers:
            await tracer.aclose()
