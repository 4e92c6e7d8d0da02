"""Choose a session's backend, which determines where its commands run and where its files are.

A session is opened on this machine before any settings are read, which is cheap, and moves to its backend before its
first turn. If that backend cannot be used, the session does not fall back to another one.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct, structs

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder
from hermes_acp.core.ports.workspace_ports import Editor, Workspace
from hermes_acp.workspaces.sandbox_setup import (
    ConfinementInputs,
    container_restrictions,
    remote_denied_paths,
    sandbox_setup,
)

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.ports.session_ports import MovableSession
    from hermes_acp.workspaces.cloud.kept_sandboxes import SandboxClaim
    from hermes_acp.workspaces.draft_workspace import Drafts

LOCAL = "local"


class OpenedWorkspace(Struct, frozen=True):
    """An opened workspace with its backend, folders and editor.

    With `drafts`, writes become drafts. Commands on this machine see `variables`, by default those of the process.
    """

    backend: str
    cwd: str
    roots: tuple[str, ...]
    editor: Editor | None
    drafts: "Drafts | None" = None
    variables: Mapping[str, str] | None = None


class BackendSelector:
    """Opens this process's workspaces, and moves sessions to their chosen backends."""

    def __init__(
        self,
        environment: Environment,
        settings: "Callable[[], Settings | None]",
        confinement: ConfinementInputs,
    ) -> None:
        """Initialise without opening anything; `settings` returns the settings once they are loaded."""
        self._confinement = confinement
        self._environment = environment
        self._settings = settings
        self._opened_workspaces: WeakKeyDictionary[Workspace, OpenedWorkspace] = WeakKeyDictionary()
        self._claims: WeakKeyDictionary[Workspace, SandboxClaim] = WeakKeyDictionary()

    def backends(self) -> tuple[str, ...]:
        """Return the available backends, the configured one first, or none until the settings are known."""
        settings = self._settings()
        return _configured_backends(settings) if settings else ()

    def open(
        self,
        cwd: str,
        roots: tuple[str, ...],
        editor: Editor | None = None,
        drafts: "Drafts | None" = None,
        variables: Mapping[str, str] | None = None,
    ) -> Workspace:
        """Open a workspace on the configured backend, or on this machine until the settings are known."""
        known = self.backends()
        return self._open(
            OpenedWorkspace(known[0] if known else LOCAL, cwd, roots, editor, drafts, variables)
        )

    def settle(self, session: "MovableSession") -> str:
        """Move a session to its backend and return a note for its model, or an empty string if it does not move.

        Raises ConfigError if that backend is not available.
        """
        note = self._settle(session)
        if claim := self._claims.get(session.workspace):
            claim.session_id = session.record.session_id
        return note

    def _settle(self, session: "MovableSession") -> str:
        opened, known = self._opened_workspaces.get(session.workspace), self.backends()
        wanted = session.record.options.backend or (known[0] if known else LOCAL)
        if opened is None or opened.backend == wanted:
            return ""
        if known and wanted not in known:
            raise ConfigError(
                f"This session runs on the backend {wanted!r}, which is not configured.",
                hint=f"Configure it, or choose another one for the session: {', '.join(known)}.",
            )
        session.move(self._open(structs.replace(opened, backend=wanted)))
        return f"[Commands run on the backend {wanted} now; the working directory there is {session.workspace.cwd}.]"

    def elsewhere(self, workspace: Workspace) -> str:
        """Return the backend that holds a workspace's files, or an empty string if they are on this machine."""
        opened = self._opened_workspaces.get(workspace)
        return _remote_name(opened.backend) if opened else ""

    def remote_backend_for(self, chosen: str | None) -> str:
        """Return the backend with the files of a session that chose `chosen`, or an empty string for this machine."""
        known = self.backends()
        return _remote_name(chosen or (known[0] if known else LOCAL))

    def _open(self, opened: OpenedWorkspace) -> Workspace:
        """Open a workspace. Raises ConfigError, BadRequest or OutsideRoots."""
        workspace = self._make(opened)
        self._opened_workspaces[workspace] = opened
        return workspace

    def _variables(self, opened: OpenedWorkspace) -> Mapping[str, str]:
        """Return the process's variables and, for remote backends, the keys stored in the settings."""
        if opened.backend == LOCAL:
            return opened.variables or self._environment.variables
        from hermes_acp.config.settings import load_variables

        return load_variables(self._environment)

    def _make(self, opened: OpenedWorkspace) -> Workspace:
        from hermes_acp.workspaces.command_environment import terminal_variables
        from hermes_acp.workspaces.editor_workspace import EditorWorkspace

        plugin_folder: PluginFolder[Any] = PluginFolder("hermes_acp.workspaces.backends", "BACKEND")
        backend = plugin_folder.open(opened.backend)
        settings = self._settings()
        section = getattr(settings, opened.backend, None) if settings else None
        private = str(self._environment.private_folder.resolve())
        more = () if section is None else (section,)
        if opened.backend == LOCAL:
            more = (sandbox_setup(self._settings, self._confinement),)
        elif backend.keeps_files_here:
            more = (section, container_restrictions(self._confinement, opened.cwd))
        elif backend.is_cloud:
            return self._rent(backend, opened, section, private)
        workspace: Workspace = backend.open(opened.cwd, opened.roots, self._variables(opened), private, *more)
        if not backend.keeps_files_here:
            return workspace
        if opened.drafts:
            from hermes_acp.workspaces.draft_workspace import DraftWorkspace

            return DraftWorkspace(workspace, opened.drafts)
        if opened.editor is None:
            return workspace
        variables = opened.variables or self._environment.variables
        is_here = opened.backend == LOCAL
        return EditorWorkspace(
            opened.editor, workspace, lambda: terminal_variables(variables), handles_commands=is_here
        )

    def _rent(self, backend: Any, opened: OpenedWorkspace, section: Any, private: str) -> Workspace:
        """Open a workspace on a hosted service; keep its sandbox for the session that claims it."""
        from hermes_acp.workspaces.cloud.kept_sandboxes import KeptSandboxes, SandboxClaim

        claim = SandboxClaim(KeptSandboxes(self._environment.home), opened.backend, opened.cwd)
        denied_paths = remote_denied_paths(self._confinement, opened.cwd)
        workspace: Workspace = backend.open(
            opened.cwd, opened.roots, self._variables(opened), private, section, denied_paths, claim
        )
        self._claims[workspace] = claim
        return workspace


def _remote_name(backend: str) -> str:
    """Return the backend's name if its files are remote, or an empty string."""
    plugin_folder: PluginFolder[Any] = PluginFolder("hermes_acp.workspaces.backends", "BACKEND")
    return "" if backend == LOCAL or plugin_folder.open(backend).keeps_files_here else backend


def _configured_backends(settings: "Settings") -> tuple[str, ...]:
    """Return the backends that a session can use: the selected one first, then this machine, then the others."""
    named = {
        "docker": settings.docker.image,
        "singularity": settings.singularity.image,
        "ssh": settings.ssh.host,
    }
    elsewhere = (name for name in ("daytona", "modal", "vercel") if name in settings.model_fields_set)
    ready = (*(name for name, value in named.items() if value), *elsewhere)
    return tuple(dict.fromkeys((settings.backend, "local", *ready)))
