"""The skills of a process: one library for all sessions, created on first use."""

from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import ConfigError
from hermes_acp.core.event_types import Surface
from hermes_acp.core.ports.runtime_ports import StartTask
from hermes_acp.core.ports.tool_ports import ToolSource
from hermes_acp.core.ports.trust_ports import Trust, TrustItem
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.core.record.session_record import Record
from hermes_acp.skills.deferred_source import DeferredToolSource

if TYPE_CHECKING:
    from hermes_acp.core.errors import HermesError
    from hermes_acp.core.ports.session_ports import EquippedSession
    from hermes_acp.skills.skill_collection import Skill
    from hermes_acp.skills.skill_learning import SkillLearning
    from hermes_acp.skills.skill_library import SkillLibrary
    from hermes_acp.skills.skill_overview import SkillOverview
    from hermes_acp.skills.skill_watch import SkillWatch
    from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure
    from hermes_acp.skills.suggestions.skill_suggestions import SkillSuggester
    from hermes_acp.storage.search.semantic_index import SemanticIndex
    from hermes_acp.storage.watching.folder_watcher import FolderWatcher


class SkillService:
    """Owns the library, and a command source for each session.

    `start` runs a task in the app. With `learning`, skill uses are counted.
    """

    def __init__(
        self,
        environment: Environment,
        start: StartTask,
        learning: "SkillLearning | None" = None,
        *,
        elsewhere: Callable[[Workspace], str] | None = None,
        remote_backend_for: Callable[[str | None], str] | None = None,
        admits: Callable[[str, Path, TrustItem | None], bool] | None = None,
        watcher: "Callable[[], FolderWatcher] | None" = None,
    ) -> None:
        """Initialise without reading anything.

        `elsewhere` returns the name of a workspace's backend if its files are not on this machine; `remote_backend_for`
        does the same for the backend that a session chose. `admits` returns whether a file of a workspace skill may be
        used; its last argument is the trust item for the skill's text, and it may block. `watcher` returns the
        process's folder watcher; without one, changes to skills are not followed.
        """
        self._elsewhere = elsewhere
        self._remote_backend_for = remote_backend_for
        self._is_admitted = admits
        self._suggester: SkillSuggester | None = None
        self._environment = environment
        self._start = start
        self._learning = learning
        self._watches: dict[str, SkillWatch] = {}
        self._making = Lock()
        self._watcher = watcher or self._own_watcher

    @cached_property
    def library(self) -> "SkillLibrary":
        """The skill library, created in a worker thread because it imports the scanner."""
        from hermes_acp.skills.skill_library import SkillLibrary

        user_home = self._environment.variables.get("HOME") or str(self._environment.private_folder.parent)
        return SkillLibrary(
            self._environment.home,
            Path(user_home),
            self._is_elsewhere,
            self._admits,
            self._environment.is_foreign,
            self._disabled_skills,
        )

    def _own_watcher(self) -> "FolderWatcher":
        from hermes_acp.storage.watching.folder_watcher import FolderWatcher

        return FolderWatcher(self._start)

    def _admits(self, cwd: str, skill: "Skill", file: Path) -> bool:
        """Return whether a workspace skill's file may be used, because it existed before or the user approved it.

        Blocks.
        """
        from hermes_acp.skills.skill_collection import FILE
        from hermes_acp.skills.skill_commands import trust_item

        item = trust_item(skill) if file.name == FILE and file.parent == Path(skill.folder) else None
        return self._is_admitted is None or self._is_admitted(cwd, file, item)

    def _is_elsewhere(self, workspace: Workspace) -> bool:
        return bool(self._elsewhere and self._elsewhere(workspace))

    def place_of(self, record: Record) -> str:
        """Return the local folder whose skills apply to a session. A remote session gets none from its workspace."""
        is_remote = self._remote_backend_for and self._remote_backend_for(record.options.backend)
        return str(self._environment.home) if is_remote else record.cwd

    def _has_skills(self) -> bool:
        """Return whether skills are enabled. Invalid settings are reported elsewhere, when a model is needed."""
        from hermes_acp.config.settings import load_settings

        try:
            return load_settings(self._environment).skills.enabled
        except ConfigError:
            return False

    def _disabled_skills(self) -> frozenset[str]:
        """Return the names of skills that are turned off. Blocks."""
        from hermes_acp.config.settings import load_settings

        try:
            return frozenset(load_settings(self._environment).skills.disabled)
        except ConfigError:
            return frozenset()

    def index(self, cwd: str, surface: Surface = "") -> str:
        """Return the prompt's text about a place's skills for a session that started on a surface. Blocks."""
        return self.library.index(cwd, surface) if self._has_skills() else ""

    def offer_skills(self, session: "EquippedSession", trust: Trust) -> None:
        """Offer a session's skills as commands, reading them in the background."""

        def make() -> ToolSource | None:
            if not self._has_skills():
                return None
            from hermes_acp.skills.skill_commands import SkillSource

            learning = self._learning
            news = learning.tidy() if learning else ()

            def note(skill: "Skill") -> None:
                if learning:
                    learning.usage_tracker.note(session.id, skill.name, skill.folder)

            watch = self._watch(session.record.cwd)
            return SkillSource(
                self.library,
                watch,
                trust,
                session.commands.announce,
                on_use=note,
                news=news,
                is_here=lambda: self.place_of(session.record) == session.record.cwd,
            )

        async def make_in_thread() -> ToolSource | None:
            return await run_sync(make)

        source = DeferredToolSource(make_in_thread)
        session.sources.skills = source
        self._start(source.run)

    def _watch(self, cwd: str) -> "SkillWatch":
        from hermes_acp.skills.skill_watch import SkillWatch

        with self._making:
            if cwd not in self._watches:
                self._watches[cwd] = SkillWatch(self.library, cwd, self._start, self._watcher())
            return self._watches[cwd]

    def suggester(
        self, semantic_index: "Callable[[], SemanticIndex | None]", report: "Callable[[HermesError], None]"
    ) -> "SkillSuggester":
        """Return the suggester of skills that fit a prompt, created on the first call. `report` receives errors."""
        if self._suggester is None:
            from hermes_acp.skills.suggestions.skill_suggestions import SkillSuggester

            self._suggester = SkillSuggester(semantic_index, self.library.skills_for, self._start, report)
        return self._suggester

    def release(self, session_id: str) -> None:
        """Stop searching for a session that closes."""
        if self._suggester:
            self._suggester.forget(session_id)

    async def overview(self, place: str, trust: Trust, likeness: "SkillSimilarityMeasure") -> "SkillOverview":
        """Return an overview of all skills of a place. Raises StorageError."""
        from hermes_acp.skills.skill_commands import trust_item
        from hermes_acp.skills.skill_overview import SkillOverview, overview

        if not (self._has_skills() and self._learning):
            return SkillOverview(())
        usage_tracker = self._learning.usage_tracker
        collection = await run_sync(self.library.collection, place)
        similar_skills = await likeness.pairs(collection.skills)

        def is_trusted(skill: "Skill") -> bool:
            return skill.scope != "workspace" or trust.is_trusted(place, trust_item(skill))

        findings = await run_sync(self.library.findings, place)
        return await run_sync(overview, collection, usage_tracker, is_trusted, similar_skills, findings)

    def trust_items(self, place: str) -> tuple[TrustItem, ...]:
        """Return the skills that a workspace contains, for the user to trust. Blocks."""
        if not self._has_skills():
            return ()
        from hermes_acp.skills.skill_commands import trust_item

        skills = self.library.collection(place).skills
        return tuple(trust_item(skill) for skill in skills if skill.scope == "workspace")
