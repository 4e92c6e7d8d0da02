"""Create services for the app and for individual commands of the command line."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.core.ports.quota_ports import UserQuota
from hermes_acp.core.ports.run_ports import Driver
from hermes_acp.core.ports.runtime_ports import Clock, Ids, StartTask
from hermes_acp.mcp.server_manager import McpServerManager, SourceRunner
from hermes_acp.recall.recall_service import RecallService
from hermes_acp.runs.run_service import DelegatedRun, RunService
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.usage.usage_service import UsageService

if TYPE_CHECKING:
    from hermes_acp.agent.setup.configuration import Configuration
    from hermes_acp.agent.setup.turn_dependencies import UnattendedWork
    from hermes_acp.config.model_choice import ModelChoice
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.boards.board_ports import BoardLogs
    from hermes_acp.core.ports.embedding_ports import Embedder
    from hermes_acp.core.ports.record_ports import SharedRecords
    from hermes_acp.core.ports.schedule_ports import Prompts
    from hermes_acp.hooks.hook_catalog import HookCatalog, ListedHook
    from hermes_acp.mcp.server_definitions import ServerProcessRegistry
    from hermes_acp.notifications.notification_service import NotificationService
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.runs.board.board_coordinator import BoardCoordinator
    from hermes_acp.runs.board.board_service import BoardService
    from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees
    from hermes_acp.sessions.session_manager import OpenWorkspace, SessionManager
    from hermes_acp.storage.search.vector_indexing import VectorIndexer
    from hermes_acp.storage.watching.folder_watcher import FolderWatcher
    from hermes_acp.telemetry.bug_log import BugLog
    from hermes_acp.telemetry.structured_log import StructuredLog
    from hermes_acp.telemetry.traces.otel_settings import ExportSettings
    from hermes_acp.telemetry.traces.session_tracer import SessionTracer, SpanExport
    from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager
    from hermes_acp.workspaces.sandbox_setup import ConfinementInputs


def build_mcp_manager(
    environment: Environment, runner: SourceRunner, on_change: Callable[[], None]
) -> McpServerManager:
    """Return the manager of a process's MCP servers; the owner of `runner` keeps the servers running."""

    def variables() -> Mapping[str, str]:
        from hermes_acp.workspaces.command_environment import command_environment

        return command_environment(environment.variables)

    def process_registry() -> "ServerProcessRegistry":
        from hermes_acp.workspaces.processes.server_processes import ServerProcesses

        return ServerProcesses()

    return McpServerManager(
        environment, on_change, runner, variables=variables, process_registry=process_registry
    )


def build_usage_service(environment: Environment) -> UsageService:
    """Return the usage service of a home folder; clients of the default profile see the other profiles too."""
    return UsageService(environment, shows_all_profiles=environment.profile == DEFAULT_PROFILE)


def build_session_store(
    environment: Environment, forget: "Callable[[str], Awaitable[None]] | None" = None
) -> SessionStore:
    """Return the session store of a home folder; in a fleet, its machines share the sessions."""

    def share(store: SessionStore) -> "SharedRecords | None":
        from hermes_acp.runs.fleet.fleet_access import fleet_database

        if not fleet_database(environment):
            return None
        from hermes_acp.runs.fleet.records.shared_home import share_records

        return share_records(environment, store)

    return SessionStore(environment.home, forget, share)


def build_recall_service(environment: Environment, store: SessionStore) -> RecallService:
    """Return the recall service for the sessions in a store."""
    return RecallService(environment, store, _choose_embedder, _index_generic_prompts)


def build_run_service(
    environment: Environment,
    services: tuple[Clock, Ids, UserQuota],
    store: SessionStore,
    sessions: "SessionManager",
    configuration: "Configuration",
    *,
    open_workspace: "OpenWorkspace",
    report_bug: Callable[[BaseException, str], None],
    boards: "Callable[[], tuple[BoardService, CardWorktrees]]",
) -> RunService:
    """Return the run service of a home folder.

    Its runs work in sessions of this process, and those of cards work in the cards' worktrees.
    """
    clock, ids, quota = services

    def make_driver(prompts: "Prompts", delegated: DelegatedRun | None) -> Driver:
        from hermes_acp.runs.board.card_driver import CardDriver
        from hermes_acp.runs.quota_driver import QuotaDriver
        from hermes_acp.runs.session_driver import SessionDriver

        def report(error: Exception) -> None:
            report_bug(error, ids.fresh("trace"))

        driver = SessionDriver(sessions, configuration, prompts, open_workspace, report, delegated)
        return QuotaDriver(CardDriver(driver, *boards()), quota)

    return RunService(environment, clock, ids, make_driver, store.sharing.fetch)


def build_board_service(environment: Environment, clock: Clock, runs: RunService) -> "BoardService":
    """Return the boards of a profile: in the home folder or, in a fleet, in its database. Raises ConfigError."""
    from hermes_acp.runs.board.board_service import BoardService
    from hermes_acp.runs.board.file_log import FileBoardLogs
    from hermes_acp.runs.fleet.fleet_access import fleet_database

    folder = environment.home / "boards"
    logs: BoardLogs = FileBoardLogs(folder)
    if fleet_database(environment):
        from hermes_acp.runs.fleet.boards.shared_boards import share_boards

        logs = share_boards(environment, folder)
    return BoardService(logs, runs, clock, lambda name: folder / name / "snapshot")


def unattended_work(
    runs: RunService, boards: "Callable[[], BoardService]", environment: Environment
) -> "UnattendedWork":
    """Return the ports through which the agent of this process arranges work without its user. Blocks."""
    from hermes_acp.agent.setup.turn_dependencies import UnattendedWork
    from hermes_acp.runs.agent_schedules import schedules_for_agent
    from hermes_acp.runs.board.agent_boards import boards_for_agent
    from hermes_acp.runs.fleet.fleet_access import fleet_database

    home, are_shared = environment.home, bool(fleet_database(environment))
    return UnattendedWork(
        schedules_for_agent(runs, home), boards_for_agent(boards, home / "boards", are_shared=are_shared)
    )


def build_card_worktrees(environment: Environment, trust: "WorkspaceTrust") -> "CardWorktrees":
    """Return the worktrees for a home folder's cards; trust in a repository also applies to its worktrees."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.policy.workspace_trust import carry_over
    from hermes_acp.runs.worktrees.card_worktrees import CardWorktrees

    def folder() -> Path:
        chosen = load_settings(environment).boards.worktrees
        return Path(chosen) if chosen else environment.state_folder / "worktrees"

    return CardWorktrees(environment.home, folder, environment.variables, partial(carry_over, trust))


def build_board_coordinator(
    environment: Environment,
    services: "tuple[BoardService, CardWorktrees, FolderWatcher]",
    confinement: "ConfinementInputs",
    ids: Ids,
    only: Collection[str],
) -> "BoardCoordinator":
    """Return the coordinator for all of a home folder's boards, or only for those named."""
    from hermes_acp.config.settings import load_settings
    from hermes_acp.runs.board.board_coordinator import BoardCoordinator
    from hermes_acp.runs.board.card_file_sync import CardFileSync
    from hermes_acp.runs.board.card_merges import CardMerges
    from hermes_acp.runs.merging.merge_queue import RepositoryMergeQueue
    from hermes_acp.runs.merging.repository_checks import RepositoryChecks
    from hermes_acp.workspaces.configured_commands import surroundings_of

    boards, worktrees, watcher = services

    def settings() -> "Settings":
        return load_settings(environment)

    surroundings = surroundings_of(environment, settings, confinement, {})
    checks = RepositoryChecks(settings, surroundings, environment.private_folder)
    merges = CardMerges(boards, RepositoryMergeQueue(worktrees, checks), worktrees)
    files = CardFileSync(boards, environment.home / "boards", watcher)
    return BoardCoordinator(boards, merges, files, ids, only)


def build_notifications(environment: Environment, clock: Clock) -> "NotificationService":
    """Return the notification service of a home folder, with the targets in its settings."""
    from hermes_acp.notifications.notification_plan import read_plan
    from hermes_acp.notifications.notification_service import NotificationService

    return NotificationService(environment.home, lambda: read_plan(environment), clock)


def build_tracers(
    environment: Environment, clock: Clock, start: StartTask, bugs: "BugLog"
) -> "tuple[SessionTracer, ...]":
    """Return the tracer that exports the sessions of a process, if its environment variables ask for one."""
    from hermes_acp.telemetry.traces.otel_settings import read_export_settings

    settings = read_export_settings(environment.variables)
    if settings is None:
        return ()
    from hermes_acp import __version__
    from hermes_acp.ids import RandomIds
    from hermes_acp.telemetry.structured_log import StructuredLog
    from hermes_acp.telemetry.traces.session_tracer import SessionTracer, TracerServices

    def report_bug(error: BaseException) -> None:
        bugs.report(error, RandomIds().fresh("trace"))

    def hint() -> str:
        from hermes_acp.config.installation import extra_hint

        return extra_hint("otel")

    log = StructuredLog(environment.home, clock)
    services = TracerServices(clock, start, partial(_open_export, log), log, report_bug, hint)
    return (SessionTracer(settings, __version__, services),)


def _open_export(log: "StructuredLog", settings: "ExportSettings") -> "SpanExport":
    """Import the tracing library and start the export. Blocks; raises ImportError if the extra is not installed."""
    from hermes_acp import __version__
    from hermes_acp.telemetry.traces.otel_export import OtelExport

    return OtelExport(settings, __version__, lambda words: log.note("export_trouble", words=words))


def _choose_embedder(
    settings: "Settings", variables: Mapping[str, str], choice: "ModelChoice | None"
) -> "Embedder | None":
    from hermes_acp.models.embeddings.embedding_models import embedder_of

    return embedder_of(settings, variables, choice)


async def _index_generic_prompts(indexer: "VectorIndexer") -> None:
    """Embed the generic prompts with which all skills are compared."""
    from hermes_acp.skills.suggestions.skill_vectors import index_skills

    await index_skills(indexer, ())


@asynccontextmanager
async def recall_by_settings(environment: Environment, store: SessionStore) -> AsyncGenerator[RecallService]:
    """Yield the recall service as configured in the settings, for use by a command. Raises ConfigError."""
    from hermes_acp.config.provider_access import ProviderAccess

    recall_service = build_recall_service(environment, store)

    def equip() -> None:
        from hermes_acp.config.settings import load_settings, load_variables

        settings = load_settings(environment)
        needs_model = settings.recall.embeddings == "provider" and settings.recall.provider is None
        choice = ProviderAccess(environment, {}).read()[1] if needs_model else None
        recall_service.equip(settings, load_variables(environment), choice)

    await run_sync(equip)
    try:
        yield recall_service
    finally:
        with anyio.CancelScope(shield=True):
            await recall_service.aclose()


def hooks_of(environment: Environment, cwd: str) -> "tuple[HookCatalog, Sequence[ListedHook]]":
    """Return the hooks that apply in a folder, without creating an app. Raises ConfigError."""
    from hermes_acp.app.confinement import confinement_inputs
    from hermes_acp.config.settings import load_settings
    from hermes_acp.hooks.hook_catalog import HookCatalog
    from hermes_acp.hooks.hook_commands import HOOK_VARIABLE
    from hermes_acp.ids import RandomIds
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.workspaces.configured_commands import surroundings_of

    settings = load_settings(environment)
    trust = WorkspaceTrust(environment, RandomIds())
    confinement = confinement_inputs(environment, lambda: settings, trust)
    surroundings = surroundings_of(environment, lambda: settings, confinement, {HOOK_VARIABLE: "1"})
    catalog = HookCatalog(environment, surroundings, cwd)
    return catalog, catalog.list(settings, trust.settings_of(cwd), trust)


def custom_tools_of(environment: Environment) -> "CustomToolManager":
    """Return the custom tools of a home folder, without creating an app."""
    from hermes_acp.app.confinement import confinement_inputs
    from hermes_acp.clock import SystemClock
    from hermes_acp.ids import RandomIds
    from hermes_acp.policy.workspace_trust import WorkspaceTrust
    from hermes_acp.tools.custom.custom_tool_manager import CustomToolManager

    workspace_trust = WorkspaceTrust(environment, RandomIds())
    confinement = confinement_inputs(environment, lambda: None, workspace_trust)
    return CustomToolManager(
        environment, workspace_trust, lambda: None, SystemClock(), confinement=confinement
    )
