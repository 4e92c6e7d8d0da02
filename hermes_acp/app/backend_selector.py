"""Where a session's commands run and its files lie: the choice of a backend.

Knows: which backends are configured, what a session chose, how a workspace is opened on each. Does not know: how one
works. A session is opened on this machine, at no cost, before any settings are read; it moves where it belongs before
its first turn. What a session was to run in and cannot is never run anywhere else.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from msgspec import Struct, structs

from hermes_acp.assembly.confinement import Shutter, confinement_of, precautions_of, shut_elsewhere
from hermes_acp.config.environment import Environment
from hermes_acp.core.drawers import Drawer
from hermes_acp.core.errors import BadConfig
from hermes_acp.core.ports import Editor, Workspace

if TYPE_CHECKING:
    from hermes_acp.config.settings import Settings
    from hermes_acp.sessions.session import Session
    from hermes_acp.workspaces.drafted import Drafts

LOCAL = "local"


class Lodge(Struct, frozen=True):
    """One workspace as it was opened: on which backend, for which folders, seen through which editor.

    Where there are `drafts`, what is written becomes one.
    """

    backend: str
    cwd: str
    roots: tuple[str, ...]
    editor: Editor | None
    drafts: "Drafts | None" = None


class Lodging:
    """Opens workspaces of this process, and moves sessions to the backends they are to be on."""

    def __init__(
        self, environment: Environment, settings: "Callable[[], Settings | None]", shutter: Shutter
    ) -> None:
        """Open nothing; `settings` gives them once they are known."""
        self._shutter = shutter
        self._environment = environment
        self._settings = settings
        self._lodges: WeakKeyDictionary[Workspace, Lodge] = WeakKeyDictionary()

    def backends(self) -> tuple[str, ...]:
        """Give the backends that can be chosen, the configured one first; empty until settings are known."""
        from hermes_acp.config.backends import backends_of

        settings = self._settings()
        return backends_of(settings) if settings else ()

    def open(
        self,
        cwd: str,
        roots: tuple[str, ...],
        editor: Editor | None = None,
        drafts: "Drafts | None" = None,
    ) -> Workspace:
        """Open a workspace where the settings say, or on this machine while they are not known."""
        known = self.backends()
        return self._open(Lodge(known[0] if known else LOCAL, cwd, roots, editor, drafts))

    def settle(self, session: "Session") -> str:
        """Move a session to its backend, and give what its model should know of that; nothing where it stays.

        Raises BadConfig where that backend cannot be had.
        """
        lodge, known = self._lodges.get(session.workspace), self.backends()
        wanted = session.record.options.backend or (known[0] if known else LOCAL)
        if lodge is None or lodge.backend == wanted:
            return ""
        if known and wanted not in known:
            raise BadConfig(
                f"This session runs on the backend {wanted!r}, which is not configured.",
                hint=f"Configure it, or choose another one for the session: {', '.join(known)}.",
            )
        session.move(self._open(structs.replace(lodge, backend=wanted)))
        return f"[Commands run on the backend {wanted} now; the working directory there is {session.workspace.cwd}.]"

    def elsewhere(self, workspace: Workspace) -> str:
        """Give the backend on which a workspace's files are, where that is not this machine; empty where it is."""
        lodge = self._lodges.get(workspace)
        return _far(lodge.backend) if lodge else ""

    def meant_elsewhere(self, chosen: str | None) -> str:
        """Give the backend that has the files of a session which chose one, or none; empty where it is this machine."""
        known = self.backends()
        return _far(chosen or (known[0] if known else LOCAL))

    def _open(self, lodge: Lodge) -> Workspace:
        """Open a workspace. Raises BadConfig, BadRequest, OutsideRoots."""
        workspace = self._opened(lodge)
        self._lodges[workspace] = lodge
        return workspace

    def _variables(self, lodge: Lodge) -> Mapping[str, str]:
        """Give the process's variables, and for backends elsewhere the keys that stand beside the settings."""
        if lodge.backend == LOCAL:
            return self._environment.variables
        from hermes_acp.config.settings import load_variables

        return load_variables(self._environment)

    def _opened(self, lodge: Lodge) -> Workspace:
        from hermes_acp.workspaces.editor_first import EditorFirst
        from hermes_acp.workspaces.surroundings import terminal_variables

        drawer: Drawer[Any] = Drawer("hermes_acp.workspaces.backends", "BACKEND")
        backend = drawer.open(lodge.backend)
        settings = self._settings()
        section = getattr(settings, lodge.backend, None) if settings else None
        private = str(self._environment.home.resolve())
        more = () if section is None else (section,)
        if lodge.backend == LOCAL:
            more = (confinement_of(self._settings, self._shutter),)
        elif backend.keeps_files_here:
            more = (section, precautions_of(self._shutter, lodge.cwd))
        elif backend.is_hired:
            more = (section, shut_elsewhere(self._shutter, lodge.cwd))
        workspace: Workspace = backend.open(lodge.cwd, lodge.roots, self._variables(lodge), private, *more)
        if not backend.keeps_files_here:
            return workspace
        if lodge.drafts:
            from hermes_acp.workspaces.drafted import Drafted

            return Drafted(workspace, lodge.drafts)
        if lodge.editor is None:
            return workspace
        variables = self._environment.variables
        is_here = lodge.backend == LOCAL
        return EditorFirst(
            lodge.editor, workspace, lambda: terminal_variables(variables), takes_commands=is_here
        )


def _far(backend: str) -> str:
    """Give a backend whose files are not this machine's; nothing for any other."""
    drawer: Drawer[Any] = Drawer("hermes_acp.workspaces.backends", "BACKEND")
    return "" if backend == LOCAL or drawer.open(backend).keeps_files_here else backend
