"""How the agent learns: what counts the uses of skills, what writes them, what looks back at a turn.

Knows: which of these there are under which settings, and that all of them are made when they are first needed. Does not
know: what a skill is, how a turn proceeds.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.app.mcp_server_manager import McpServerManager
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError, StorageError
from hermes_acp.core.ports.child_ports import ChildRecords
from hermes_acp.core.ports.runtime_ports import Clock

if TYPE_CHECKING:
    from hermes_acp.agent.children.reflection import Reflection
    from hermes_acp.agent.turn.turn import AfterStepStage, PostflightStage
    from hermes_acp.app.skill_service import SkillService
    from hermes_acp.config.skill_settings import SkillSettings
    from hermes_acp.skills.skill_usage import SkillUsageTracker
    from hermes_acp.skills.suggestions.lexical_similarity import SkillSimilarityMeasure


class SkillLearning:
    """What of it one process has; what goes on beside a conversation is at work with the MCP manager's sources."""

    def __init__(
        self, environment: Environment, clock: Clock, mcp_manager: McpServerManager, records: ChildRecords
    ) -> None:
        self._environment = environment
        self._clock = clock
        self._mcp_manager = mcp_manager
        self._records = records
        self._has_tidied = False

    @cached_property
    def usage_tracker(self) -> "SkillUsageTracker":
        """The books on the uses of skills."""
        from hermes_acp.skills.skill_usage import SkillUsageTracker

        return SkillUsageTracker(self._environment.home, self._clock.now)

    @cached_property
    def _reflection(self) -> "Reflection":
        from hermes_acp.agent.children.reflection import Reflection

        return Reflection(self._records, self._mcp_manager.start, lambda: self._mcp_manager.is_attended)

    def ports(
        self, settings: "SkillSettings", skill_service: "SkillService", likeness: "SkillSimilarityMeasure"
    ) -> dict[str, object]:
        """Return what the tools of skills take."""
        if not (settings.enabled and settings.learning):
            return {"skill_uses": self.usage_tracker}
        from hermes_acp.skills.skill_editor import SkillEditor

        workshop = SkillEditor(
            self._environment.home, skill_service.library, self.usage_tracker, self._clock.now, likeness
        )
        return {"skill_uses": self.usage_tracker, "skill_workshop": workshop}

    def stages(
        self, settings: "SkillSettings", skill_service: "SkillService"
    ) -> "tuple[tuple[AfterStepStage, ...], tuple[PostflightStage, ...]]":
        """Return what is done after a step, and after a turn."""
        from hermes_acp.agent.stages.skill_outcomes import skill_uses_stage

        counting = skill_uses_stage(self.usage_tracker)
        if not (settings.enabled and settings.learning and settings.look_back_after_calls):
            return (), (counting,)
        from hermes_acp.agent.children.reflection import ReflectionConfig
        from hermes_acp.app.turn_stages import reflection_stages

        terms = ReflectionConfig(settings.look_back_after_calls, reflection_stages(), skill_service.index)
        return (self._reflection.count,), (counting, self._reflection.due(terms))

    def tidy(self) -> tuple[str, ...]:
        """Put away what nobody uses any more, once a process; give what its user should know. Blocks."""
        if self._has_tidied:
            return ()
        self._has_tidied = True
        try:
            return self.usage_tracker.archive_stale()
        except HermesError as error:
            return (error.sentence(),)

    async def take_undo(self, session_id: str) -> str:
        """Count what a user undid as failures of the skills it was done by; say what follows, if anything does."""
        try:
            return "\n".join(await run_sync(self.usage_tracker.undone, session_id))
        except StorageError as error:
            return error.sentence()

    async def release(self, session_id: str) -> None:
        """End what goes on beside a session that closes."""
        if "_reflection" in self.__dict__:
            await self._reflection.release(session_id)
