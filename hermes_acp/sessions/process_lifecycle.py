"""Connect the services of a process to the lifecycle of its sessions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from hermes_acp.core.ports.gate_ports import Gate
from hermes_acp.core.ports.session_ports import EquippedSession, SessionObserver
from hermes_acp.sessions.checkpoint_service import CheckpointService
from hermes_acp.sessions.workspace_admission import WorkspaceAdmission
from hermes_acp.skills.skill_service import SkillService
from hermes_acp.telemetry.traces.session_tracer import SessionTracer

if TYPE_CHECKING:
    from hermes_acp.agent.turn.turn import Turn
    from hermes_acp.core.ports.checkpoint_ports import Checkpoints
    from hermes_acp.hooks.session_hooks import Verdict


class NoticeSource(Protocol):
    """A service that occasionally has notices for users."""

    def news(self) -> Sequence[str]:
        """Return the notices that a user has not been shown yet."""
        ...


class SessionResources(Protocol):
    """A service that holds resources open for a session's tools."""

    async def release(self, session_id: str) -> None:
        """Close everything that was opened for a session."""
        ...


class ProcessLifecycle(Struct, frozen=True):
    """Implement `SessionLifecycle` with the services of this process."""

    admission: WorkspaceAdmission
    skill_service: SkillService
    checkpoint_service: CheckpointService
    resources: SessionResources
    news_sources: tuple[NoticeSource, ...]
    observers: tuple[SessionObserver, ...] = ()
    tracers: tuple[SessionTracer, ...] = ()

    @property
    def exports_traces(self) -> bool:
        """Whether this process exports spans for its turns and calls."""
        return any(tracer.is_on for tracer in self.tracers)

    def opened(self, session: EquippedSession) -> None:
        """Attach the skills of a session's folder, which are read in the background."""
        self.skill_service.offer_skills(session, self.admission.workspace_trust)
        for observer in self.observers:
            session.ledger.admit(observer.opened(session))

    async def before_turn(self, session: EquippedSession, gate: Gate) -> None:
        """Check the workspace's contents, ask the user about untrusted items, and set up the session."""
        await self.admission.welcome(session, gate)

    def add_hooks(self, session: EquippedSession, turn: "Turn") -> None:
        """Add the session's current hooks to a turn; may be called again."""
        if hooks := self.admission.hook_manager.of(session):
            from hermes_acp.agent.stages.hook_stages import add_hooks

            add_hooks(turn, hooks)

    async def check_prompt(
        self, session: EquippedSession, turn_id: str, prompt: str, clean: Callable[[str], str]
    ) -> "Verdict | None":
        """Run the user's hooks for a prompt, or return None if there are none; `clean` masks secrets."""
        hooks = self.admission.hook_manager.of(session)
        if hooks is None or not hooks.listens("prompt", "user"):
            return None
        from hermes_acp.hooks.session_hooks import HookTrigger

        facts = {"turn_id": turn_id, "mode": session.record.mode, "prompt": prompt}
        return await hooks.run(HookTrigger("prompt", facts), clean, "user")

    def news(self) -> Sequence[str]:
        """Return the notices that a user has not been shown yet."""
        return [sentence for source in self.news_sources for sentence in source.news()]

    def checkpoints(self, session: EquippedSession) -> "Checkpoints | None":
        """Return the store for a session's turns, or None if the user disabled checkpoints. Raises CheckpointError."""
        return self.checkpoint_service.of(session)

    async def closed(self, session_id: str) -> None:
        """Close everything that the session's tools have opened and stop its background work."""
        self.skill_service.release(session_id)
        for observer in self.observers:
            observer.closed(session_id)
        await self.admission.hook_manager.release(session_id)
        await self.resources.release(session_id)
