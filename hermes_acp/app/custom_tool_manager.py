"""The own tools of a house: which of them each session may use, asked about where nobody trusts them yet.

Knows: whose folders are looked into, who is asked, when. Does not know: what makes a file a tool, how one is run.
A look before each turn finds whatever changed; a turn keeps the tools it began with.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.assembly.confinement import Shutter, shutter_of
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError, StorageTrouble
from hermes_acp.core.ports import Clock, Gate, Tool
from hermes_acp.core.trust import TrustItem

if TYPE_CHECKING:
    from hermes_acp.assembly.trustee import Trustee
    from hermes_acp.config.settings import Settings
    from hermes_acp.core.own_tools import ToolScope
    from hermes_acp.sessions.session import Session
    from hermes_acp.tools.own.cells import Cells
    from hermes_acp.tools.own.mishaps import Mishaps
    from hermes_acp.tools.own.shelves import Shelves, ToolFile
    from hermes_acp.tools.own.workshop import Workshop

PUT_ASIDE = "The tool {name} broke {count} times in a row and is put aside; `hermes-acp tools allow {name}` ends that."
NO_TOOL = "{path} is not used, as it is no tool yet: {fault} (`hermes-acp tools check {path}` shows all.)"
ELSEWHERE = "The tool {name} is not used here: it works on files, and this session's are elsewhere."


class Toolsmith:
    """Gives sessions the own tools that may be used there, and writes them down for the agent."""

    def __init__(
        self,
        environment: Environment,
        trustee: "Trustee",
        settings: "Callable[[], Settings | None]",
        clock: Clock,
        *,
        shutter: Shutter,
    ) -> None:
        """Look at nothing yet; `settings` gives them once they are known."""
        self._shutter = shutter
        self._environment = environment
        self._trustee = trustee
        self._settings = settings
        self._clock = clock

    @cached_property
    def shelves(self) -> "Shelves":
        """The folders that tools lie in."""
        from hermes_acp.tools.own.shelves import Shelves

        return Shelves(self._environment.home)

    @cached_property
    def mishaps(self) -> "Mishaps":
        """What broke, and how often."""
        from hermes_acp.tools.own.mishaps import Mishaps

        return Mishaps(self._environment.home)

    @cached_property
    def workshop(self) -> "Workshop":
        """Where tools are written."""
        from hermes_acp.tools.own.workshop import Workshop

        home, now = self._environment.home, self._clock.now
        return Workshop(home, self.shelves, self.mishaps, now, self._trust)

    @cached_property
    def _cells(self) -> "Cells":
        from hermes_acp.assembly.confinement import bounds_of
        from hermes_acp.tools.own.cells import Cells
        from hermes_acp.web.addresses import is_public
        from hermes_acp.workspaces.surroundings import command_environment

        variables = command_environment(self._environment.variables)
        private = str(self._environment.home.resolve())
        return Cells(
            variables, lambda: bounds_of(self._settings()), is_public, private, shutter=self._shutter
        )

    def brings(self, place: str) -> tuple[TrustItem, ...]:
        """Give the tools that a workspace brings along, for its user to trust. Blocks."""
        if not os.path.isdir(os.path.join(place, ".hermes", "tools")):
            return ()
        return tuple(file.trust_item() for file in self.shelves.files("workspace", place) if file.declaration)

    def place_of(self, scope: "ToolScope", cwd: str) -> str:
        """Say under which folder's name the tools of a scope are trusted."""
        return str(self._environment.home / "tools") if scope == "user" else cwd

    def is_trusted(self, file: "ToolFile", cwd: str) -> bool:
        """Tell whether a tool may be used: this very content of it."""
        return self._trustee.is_trusted(self.place_of(file.scope, cwd), file.trust_item())

    def allow(self, file: "ToolFile", cwd: str) -> None:
        """Trust a tool as it is now, and let it begin anew. Raises StorageTrouble."""
        self._trustee.trust(self.place_of(file.scope, cwd), [file.trust_item()])
        self.mishaps.forget(file.folder, file.name)
        self._keep(file)

    def _trust(self, file: "ToolFile", cwd: str) -> None:
        place, item = self.place_of(file.scope, cwd), file.trust_item()
        try:
            self._trustee.trust(place, [item])
        except StorageTrouble:
            self._trustee.trust_for_now(place, [item])

    async def welcome(
        self, session: "Session", gate: Gate, files: "Sequence[ToolFile]", elsewhere: str
    ) -> None:
        """Before a turn: let a session use the tools that are trusted, and ask once about each other one.

        `files` are all there are now. `elsewhere` names the backend that has the session's files, where that is not
        this machine.
        """
        cwd = session.record.cwd
        if not files and session.sources.written is None:
            return
        await self._introduce(session, gate, files)
        from hermes_acp.tools.own.source import OwnToolSource

        source = session.sources.written
        if not isinstance(source, OwnToolSource):
            source = session.sources.written = OwnToolSource()
        roots = tuple(os.path.realpath(root) for root in session.record.roots)
        source.renew(*await run_sync(self._usable, files, cwd, roots, elsewhere))

    def files(self, cwd: str) -> "tuple[ToolFile, ...]":
        """Give all files there are for sessions in a folder, the user's own first. Blocks."""
        home = self._environment.home / "tools"
        if not home.is_dir() and not os.path.isdir(os.path.join(cwd, ".hermes", "tools")):
            return ()
        return (*self.shelves.files("user", cwd), *self.shelves.files("workspace", cwd))

    async def _introduce(self, session: "Session", gate: Gate, files: "Sequence[ToolFile]") -> None:
        """Ask about what nobody trusts yet, and keep what is trusted then as a version."""
        cwd = session.record.cwd
        scopes: tuple[ToolScope, ...] = ("user", "workspace")
        for scope in scopes:
            items = {
                file.trust_item(): file
                for file in files
                if file.scope == scope and file.declaration and not self.is_trusted(file, cwd)
            }
            await self._trustee.introduce(session, gate, self.place_of(scope, cwd), list(items))
            trusted = [file for file in items.values() if self.is_trusted(file, cwd)]
            if trusted:
                await run_sync(self._keep, trusted[0])

    def _keep(self, file: "ToolFile") -> None:
        from hermes_acp.knowledge.history import Cause

        cause = Cause("user", self._clock.now(), "trusted as it was found")
        with suppress(HermesError):  # what cannot be kept is used all the same; a later change says why
            self.workshop.history(file.folder).keep(cause)

    def _usable(
        self, files: "Sequence[ToolFile]", cwd: str, roots: tuple[str, ...], elsewhere: str
    ) -> tuple[Mapping[str, Tool], Sequence[str]]:
        """Give the tools that may be used, and what the user should know of the others. Blocks."""
        from hermes_acp.assembly.outer_tools import InjectionScanner
        from hermes_acp.tools.own.cells import Ground
        from hermes_acp.tools.own.tool import OwnTool

        ground = Ground(os.path.realpath(cwd), roots)
        tools: dict[str, Tool] = {}
        news: list[str] = []
        for file in files:
            declared = file.declaration
            if declared is None:
                news.append(NO_TOOL.format(path=file.path, fault=file.checked.faults[0].told(file.path.name)))
                continue
            if file.name in tools or not self.is_trusted(file, cwd):
                continue
            if elsewhere and declared.files != "none":
                news.append(ELSEWHERE.format(name=file.name))
                continue
            mishap = self.mishaps.of(file.folder, file.name, file.digest)
            if mishap and mishap.is_put_aside:
                news.append(PUT_ASIDE.format(name=file.name, count=mishap.in_a_row))
                continue
            tools[file.name] = OwnTool(file, declared, ground, self._cells, self.mishaps, InjectionScanner())
        return tools, news


def toolsmith_of(environment: Environment) -> Toolsmith:
    """Give the toolsmith of a home outside of any house, for a command line."""
    from hermes_acp.assembly.trustee import Trustee
    from hermes_acp.world import RandomIds, SystemClock

    trustee = Trustee(environment, RandomIds())
    shutter = shutter_of(environment, lambda: None, trustee)
    return Toolsmith(environment, trustee, lambda: None, SystemClock(), shutter=shutter)
