"""The skills of a process: one library for all sessions, made when it is first needed.

Knows: whose folders are looked into, how a session's commands follow them. Does not know: what a skill is.
"""

from collections.abc import Callable, Coroutine
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadConfig
from hermes_acp.core.ports import ToolSource
from hermes_acp.core.trust import Trust, TrustItem
from hermes_acp.sessions.late_source import LateSource

if TYPE_CHECKING:
    from hermes_acp.knowledge.skills.library import SkillLibrary
    from hermes_acp.knowledge.skills.watch import SkillWatch
    from hermes_acp.sessions.session import Session

Start = Callable[[Callable[[], Coroutine[Any, Any, None]]], None]


class Librarian:
    """Has the library, and a source of commands for each session; `start` lets a task be at work in the house."""

    def __init__(self, environment: Environment, start: Start) -> None:
        self._environment = environment
        self._start = start
        self._watches: dict[str, SkillWatch] = {}

    @cached_property
    def library(self) -> "SkillLibrary":
        """The skills; made in a worker thread, as it imports the scanner."""
        from hermes_acp.knowledge.skills.library import SkillLibrary

        user_home = self._environment.variables.get("HOME") or str(self._environment.home.parent)
        return SkillLibrary(self._environment.home, Path(user_home))

    def _has_skills(self) -> bool:
        """Tell whether skills are wanted; settings that cannot be read are told where a model is needed."""
        from hermes_acp.config.settings import load_settings

        try:
            return load_settings(self._environment).skills.enabled
        except BadConfig:
            return False

    def index(self, cwd: str) -> str:
        """Give what a new session's prompt says of the skills of a place. Blocks."""
        return self.library.index(cwd) if self._has_skills() else ""

    def attend(self, session: "Session", trust: Trust) -> None:
        """Let a session have the skills of its place as commands; they are read in the background."""

        def make() -> ToolSource | None:
            if not self._has_skills():
                return None
            from hermes_acp.knowledge.skills.commands import SkillSource

            return SkillSource(
                self.library, self._watch(session.record.cwd), trust, session.commands.announce
            )

        async def make_in_thread() -> ToolSource | None:
            return await run_sync(make)

        session.sources.skills = LateSource(make_in_thread)
        self._start(session.sources.skills.run)

    def _watch(self, cwd: str) -> "SkillWatch":
        from hermes_acp.knowledge.skills.watch import SkillWatch

        return self._watches.setdefault(
            cwd, SkillWatch(self.library, cwd, lambda watch: self._start(watch.run))
        )

    def brings(self, place: str) -> tuple[TrustItem, ...]:
        """Give the skills that a workspace brings along, for its user to trust. Blocks."""
        if not self._has_skills():
            return ()
        from hermes_acp.knowledge.skills.commands import trust_item

        skills = self.library.collection(place).skills
        return tuple(trust_item(skill) for skill in skills if skill.scope == "workspace")
