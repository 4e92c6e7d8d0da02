"""Ask the editor's user in the wire types of version 1."""

from functools import partial

from hermes_acp.core.events import CallProposed
from hermes_acp.frontends.acp.connection.client_connection import ClientConnection
from hermes_acp.frontends.acp.extensions.meta_extensions import takes
from hermes_acp.frontends.acp.questions.call_meta import call_meta
from hermes_acp.frontends.acp.questions.editor_gate import EditorGate, QuestionTypes
from hermes_acp.frontends.acp.questions.large_diffs import is_large
from hermes_acp.frontends.acp.questions.permission_options import AnswerOption, reason_for
from hermes_acp.frontends.acp.v1.updates import to_diffs, to_locations, to_text
from hermes_acp.tools.approval_text import approval_text
from hermes_protocol import v1


def editor_gate(client: ClientConnection, session_id: str) -> EditorGate:
    """Return the gate for a client of a session."""
    questions = QuestionTypes(
        partial(_permission_request, client),
        v1.RequestPermissionResponse,
        v1.CreateElicitationRequestForm,
        v1.ElicitationSchema,
        v1.CreateElicitationRequestUrl,
        v1.CompleteElicitationNotification,
        v1.CreateElicitationResponse,
    )
    return EditorGate(client, session_id, questions)


def _permission_request(
    client: ClientConnection,
    session_id: str,
    call: CallProposed,
    options: tuple[AnswerOption, ...],
) -> v1.RequestPermissionRequest:
    """Show the call on its own card, whose content is the text to be approved and the reason.

    Large diffs are sent only here; the arguments of such a call were sent before.
    """
    has_large_diffs = is_large(call.diffs)
    if has_large_diffs:
        client.asked_diffs[session_id, call.call_id] = call.diffs
    as_hunks = takes(client.capabilities, "diffHunks")
    content: list[v1.ToolCallContent] = [*to_diffs(call.diffs, as_hunks=as_hunks)]
    content += [to_text(text) for text in (approval_text(call), reason_for(call)) if text]
    card = v1.ToolCallUpdate(
        tool_call_id=call.call_id,
        title=call.title,
        name=call.name,
        kind=call.kind,
        status="pending",
        content=content,
        locations=to_locations(call.locations),
        raw_input=v1.UNSET if has_large_diffs else call.raw_input,
        meta=call_meta(call, is_asked=True),
    )
    choices = [v1.PermissionOption(option_id=each.id, name=each.name, kind=each.kind) for each in options]
    return v1.RequestPermissionRequest(session_id=session_id, tool_call=card, options=choices)
