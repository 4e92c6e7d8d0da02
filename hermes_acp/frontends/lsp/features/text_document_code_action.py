"""textDocument/codeAction: list the actions for a selection, without asking a model."""

from lsprotocol import types
from msgspec import to_builtins

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import COMMAND_PREFIX
from hermes_acp.frontends.lsp.documents.code_targets import CodeSelection, find_selection, target_of
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Request


async def _offer(
    editor: EditorConnection, params: types.CodeActionParams
) -> list[types.CodeAction | types.Command]:
    document = editor.documents.get(params.text_document.uri)
    if document is None:
        return []
    try:
        selection = find_selection(target_of(params, document), editor.documents)
    except BadRequest:
        return []
    if params.context.trigger_kind == types.CodeActionTriggerKind.Automatic and _is_idle(selection):
        return []
    wanted = params.context.only
    offered: list[types.CodeAction | types.Command] = []
    for name in editor.actions:
        action = editor.actions.open(name)
        if action.is_offered(selection) and (
            wanted is None or any(_is_within(action.kind, each) for each in wanted)
        ):
            command = types.Command(
                title=messages.action_label(action.title),
                command=f"{COMMAND_PREFIX}{name}",
                arguments=[to_builtins(selection.target)],
            )
            offered.append(
                _as_literal(command, action.kind, params)
                if editor.client.can.use_literal_actions
                else command
            )
    return offered


def _is_idle(selection: CodeSelection) -> bool:
    """Return whether an automatic request has nothing to act on, so that not every line gets a light bulb."""
    return not selection.has_selection and not selection.target.diagnostics


def _is_within(kind: str, wanted: types.CodeActionKind | str) -> bool:
    name = str(getattr(wanted, "value", wanted))
    return not name or kind == name or kind.startswith(f"{name}.")


def _as_literal(command: types.Command, kind: str, params: types.CodeActionParams) -> types.CodeAction:
    found = params.context.diagnostics if kind == types.CodeActionKind.QuickFix.value else None
    return types.CodeAction(title=command.title, kind=kind, diagnostics=found, command=command)


FEATURE = Request(
    types.TEXT_DOCUMENT_CODE_ACTION,
    _offer,
    types.CodeActionOptions(
        code_action_kinds=[
            types.CodeActionKind.QuickFix, "refactor.rewrite", "refactor.tests", "refactor.continue", "hermes.explain",
        ]
    ),
)  # fmt: skip
