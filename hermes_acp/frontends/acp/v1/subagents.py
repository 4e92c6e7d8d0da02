"""Show child agents as separate sessions, to clients that support it."""

from hermes_acp.core.events import ChildChanged, ChildReported, PermissionAnswered, PermissionAsked, UserSaid
from hermes_acp.frontends.acp.translation.stop_reasons import STOP_REASONS
from hermes_acp.frontends.acp.v1.content import part_to_block
from hermes_protocol import v1
from hermes_protocol.errors import INTERNAL_ERROR


def announcement(event: ChildChanged) -> v1.SubagentUpdate:
    """Announce a child agent, or its end, in the parent session."""
    state = v1.RunningStateUpdate() if event.reason is None else _idle(event)
    return v1.SubagentUpdate(session_id=event.child_id, title=event.title, state=state)


def _idle(event: ChildChanged) -> v1.IdleStateUpdate:
    stop_reason = STOP_REASONS[event.reason] if event.reason else None
    if stop_reason:
        return v1.IdleStateUpdate(stop_reason=stop_reason)
    return v1.IdleStateUpdate(
        stop_reason="error",
        error=v1.Error(code=INTERNAL_ERROR, message=event.sentence, data={"code": event.reason}),
    )


def changed_state(event: ChildReported) -> tuple[v1.SubagentUpdate, ...]:
    """Show in the parent session whether a child agent is waiting for the user."""
    match event.event:
        case PermissionAsked():
            state = v1.RequiresActionStateUpdate()
        case PermissionAnswered():
            state = v1.RunningStateUpdate()
        case _:
            return ()
    return (v1.SubagentUpdate(session_id=event.child_id, state=state),)


def task_message(event: UserSaid, child_id: str, parent_id: str) -> v1.SessionMessage:
    """Show the task that the parent gave a child agent in the child's session."""
    return v1.SessionMessage(
        message_id=event.message_id,
        sender_session_id=parent_id,
        recipient_session_id=child_id,
        content=[part_to_block(part) for part in event.parts],
    )
