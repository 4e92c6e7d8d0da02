"""Ask the editor's user in the wire types of version 2."""

from typing import Final

from hermes_acp.core.events import CallProposed
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.questions.editor_gate import EditorGate, QuestionTypes
from hermes_acp.frontends.acp.questions.permission_options import AnswerOption, reason_for
from hermes_acp.frontends.acp.v2.audience import notify
from hermes_acp.frontends.acp.v2.updates import question_of
from hermes_protocol import v2


def editor_gate(client: ClientConnection, session_id: str) -> EditorGate:
    """Return the gate for a client; the session's state shows when the gate waits for an elicitation."""
    waiting, running = v2.SessionUpdateRequiresActionStateUpdate(), v2.SessionUpdateRunningStateUpdate()

    def show_waiting(is_waiting: bool) -> None:
        notify(client, session_id, waiting if is_waiting else running)

    return EditorGate(client, session_id, QUESTIONS, show_waiting)


def _permission_request(
    session_id: str, call: CallProposed, options: tuple[AnswerOption, ...]
) -> v2.RequestPermissionRequest:
    """Return the request, with the call as its subject and the reason as its description."""
    return v2.RequestPermissionRequest(
        session_id=session_id,
        title=call.title,
        description=reason_for(call) or v2.UNSET,
        subject=v2.ToolCallPermissionSubject(tool_call=question_of(call)),
        options=[v2.PermissionOption(option_id=each.id, name=each.name, kind=each.kind) for each in options],
    )


QUESTIONS: Final = QuestionTypes(
    _permission_request,
    v2.RequestPermissionResponse,
    v2.CreateElicitationRequestForm,
    v2.ElicitationSchema,
    v2.CreateElicitationRequestUrl,
    v2.CompleteElicitationNotification,
    v2.CreateElicitationResponse,
)
