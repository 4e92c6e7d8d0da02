"""The services with which the agent learns skills: usage tracking and the skill editor, created on first use."""

from functools import cached_property
from typing import TYPE_CHECKING, Final

from anyio.to_thread import run_sync

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.runtime_ports import Clock

if TYPE_CHECKING:
    from hermes_acp.config.sections.skill_settings import SkillSettings
    from hermes_acp.skills.skill_library import SkillLibrary
    from hermes_acp.skills.skill_usage import SkillUsageTracker
    from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure

TIDY_INTERVAL_S: Final = 86_400.0


class SkillLearning:
    """The services of one process for learning skills."""

    def __init__(self, environment: Environment, clock: Clock) -> None:
        self._environment = environment
        self._clock = clock
        self._tidied_at: float | None = None

    @cached_property
    def usage_tracker(self) -> "SkillUsageTracker":
        """The record of how skills are used."""
        from hermes_acp.skills.skill_usage import SkillUsageTracker

        return SkillUsageTracker(self._environment.home, self._clock.now)

    def ports(
        self, settings: "SkillSettings", library: "SkillLibrary", likeness: "SkillSimilarityMeasure"
    ) -> dict[str, object]:
        """Return the ports for the skill tools."""
        if not (settings.enabled and settings.learning):
            return {"skill_uses": self.usage_tracker}
        from hermes_acp.skills.skill_editor import SkillEditor

        workshop = SkillEditor(self._environment.home, library, self.usage_tracker, self._clock.now, likeness)
        return {"skill_uses": self.usage_tracker, "skill_workshop": workshop}

    def tidy(self) -> tuple[str, ...]:
        """Archive skills that are no longer used, once a day, and return notices for the user. Blocks."""
        now = self._clock.now()
        if self._tidied_at is not None and now - self._tidied_at < TIDY_INTERVAL_S:
            return ()
        self._tidied_at = now
        try:
            return self.usage_tracker.archive_stale()
        except HermesError as error:
            return (error.sentence(),)

    async def count_undo(self, session_id: str) -> str:
        """Count an undo as a failure of the skills used in the undone turns; return notices about any consequences."""
        try:
            return "\n".join(await run_sync(self.usage_tracker.undone, session_id))
        except StorageError as error:
            return error.sentence()
