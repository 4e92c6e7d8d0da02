"""The definition of a hook: what it runs, and to which calls it applies."""

import os
from collections.abc import Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes_acp.core.event_types import ToolKind
from hermes_acp.workspaces.globs import Glob
from hermes_acp.workspaces.path_confinement import is_within

if TYPE_CHECKING:
    from hermes_acp.config.sections.hook_settings import HookEvent, HookFormat, HookSettings
    from hermes_acp.config.workspace_settings import HookEntry


class CallSubject(Struct, frozen=True):
    """The call that an event is about: its tool, and the files (absolute paths) that it reads, writes or deletes."""

    tool: str
    kind: ToolKind
    paths: tuple[str, ...] = ()


class Hook:
    """A hook of the user or, if there is an `entry`, of a workspace; the entry names its file and what was trusted."""

    def __init__(
        self,
        name: str,
        settings: "HookSettings",
        entry: "HookEntry | None" = None,
        *,
        has_network: bool = True,
    ) -> None:
        self.name = name
        self.event: HookEvent = settings.event
        self.command = settings.command
        self.timeout_s = settings.timeout_s
        self.is_required = settings.required
        self.format: HookFormat = settings.format
        self.entry = entry
        self.has_network = has_network
        self._settings = settings

    @property
    def label(self) -> str:
        """The hook's name for people and models."""
        return f"project hook {self.name}" if self.entry else f"hook {self.name}"

    @property
    def can_refuse(self) -> bool:
        """Whether the hook can refuse: a workspace's hook cannot refuse its user's prompts."""
        return not (self.entry and self.event == "prompt")

    @property
    def patterns(self) -> tuple[str, ...]:
        """The hook's patterns for tools, followed by those for paths."""
        return (*self._settings.tools, *self._settings.paths)

    @cached_property
    def _globs(self) -> tuple[Glob, ...]:
        return tuple(map(Glob, self._settings.paths))

    def applies_to(self, subject: CallSubject | None, roots: Sequence[str]) -> bool:
        """Return whether the hook runs for a call, or for an event without one.

        Raises BadRequest for an invalid glob.
        """
        if subject is None:
            return True
        tools = self._settings.tools
        if tools and not any(fnmatchcase(subject.tool, each) or each == subject.kind for each in tools):
            return False
        if not self._globs:
            return True
        names = [_relative(path, roots) for path in subject.paths]
        return any(glob.covers(name) for glob in self._globs for name in names)


def _relative(path: str, roots: Sequence[str]) -> str:
    """Return a path relative to the first folder that contains it, or else without its leading slash."""
    root = next((each for each in roots if is_within(path, each)), "/")
    return os.path.relpath(path, root)
