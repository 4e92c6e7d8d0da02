"""How the agent learns: what counts the uses of skills, what writes them, what looks back at a turn.

Knows: which of these there are under which settings, and that all of them are made when they are first needed. Does not
know: what a skill is, how a turn proceeds.
"""

from functools import cached_property
from typing import TYPE_CHECKING

from anyio.to_thread import run_sync

from hermes_acp.assembly.employer import Employer
from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError, StorageTrouble
from hermes_acp.core.ports import ChildRecords, Clock

if TYPE_CHECKING:
    from hermes_acp.agent.hindsight import Hindsight
    from hermes_acp.agent.turn import Check, Closing
    from hermes_acp.assembly.librarian import Librarian
    from hermes_acp.config.skills import SkillSettings
    from hermes_acp.knowledge.skills.likeness import Likeness
    from hermes_acp.knowledge.skills.practice import Practice


class Learning:
    """What of it one process has; what goes on beside a conversation is at work with the employer's sources."""

    def __init__(
        self, environment: Environment, clock: Clock, employer: Employer, records: ChildRecords
    ) -> None:
        self._environment = environment
        self._clock = clock
        self._employer = employer
        self._records = records
        self._has_tidied = False

    @cached_property
    def practice(self) -> "Practice":
        """The books on the uses of skills."""
        from hermes_acp.knowledge.skills.practice import Practice

        return Practice(self._environment.home, self._clock.now)

    @cached_property
    def _hindsight(self) -> "Hindsight":
        from hermes_acp.agent.hindsight import Hindsight

        return Hindsight(self._records, self._employer.start, lambda: self._employer.is_attended)

    def ports(
        self, settings: "SkillSettings", librarian: "Librarian", likeness: "Likeness"
    ) -> dict[str, object]:
        """Give what the tools of skills take."""
        if not (settings.enabled and settings.learning):
            return {"skill_uses": self.practice}
        from hermes_acp.knowledge.skills.workshop import Workshop

        workshop = Workshop(
            self._environment.home, librarian.library, self.practice, self._clock.now, likeness
        )
        return {"skill_uses": self.practice, "skill_workshop": workshop}

    def stages(
        self, settings: "SkillSettings", librarian: "Librarian"
    ) -> "tuple[tuple[Check, ...], tuple[Closing, ...]]":
        """Give what is done after a step, and after a turn."""
        from hermes_acp.agent.stages.skill_uses import skill_uses_stage

        counting = skill_uses_stage(self.practice)
        if not (settings.enabled and settings.learning and settings.look_back_after_calls):
            return (), (counting,)
        from hermes_acp.agent.hindsight import Terms
        from hermes_acp.assembly.stages import look_back_stages

        terms = Terms(settings.look_back_after_calls, look_back_stages(), librarian.index)
        return (self._hindsight.count,), (counting, self._hindsight.due(terms))

    def tidy(self) -> tuple[str, ...]:
        """Put away what nobody uses any more, once a process; give what its user should know. Blocks."""
        if self._has_tidied:
            return ()
        self._has_tidied = True
        try:
            return self.practice.put_away_stale()
        except HermesError as trouble:
            return (trouble.sentence(),)

    async def take_undo(self, session_id: str) -> str:
        """Count what a user undid as failures of the skills it was done by; say what follows, if anything does."""
        try:
            return "\n".join(await run_sync(self.practice.undone, session_id))
        except StorageTrouble as trouble:
            return trouble.sentence()

    async def release(self, session_id: str) -> None:
        """End what goes on beside a session that closes."""
        if "_hindsight" in self.__dict__:
            await self._hindsight.release(session_id)
