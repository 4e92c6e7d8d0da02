"""workspace/executeCommand: run a code action.

It replaces the implementation of pygls, which loses `$/cancelRequest`.
"""

from lsprotocol import types
from lsprotocol.types import LSPErrorCodes
from pygls.exceptions import JsonRpcException

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.lsp import messages
from hermes_acp.frontends.lsp.code_action import COMMAND_PREFIX
from hermes_acp.frontends.lsp.documents.code_targets import find_selection, read_target
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Request


async def _execute(editor: EditorConnection, params: types.ExecuteCommandParams) -> object:
    from hermes_acp.frontends.lsp.editor.action_runs import run_action

    name = params.command.removeprefix(COMMAND_PREFIX)
    if not params.command.startswith(COMMAND_PREFIX) or name not in editor.actions:
        known = [f"{COMMAND_PREFIX}{each}" for each in editor.actions]
        raise BadRequest(
            messages.unknown_command(params.command[:80]), hint=messages.available_commands(known)
        )
    selection = find_selection(read_target(params.arguments), editor.documents)
    if selection.target.version not in (None, selection.document.version):
        raise JsonRpcException(messages.DOCUMENT_CHANGED, LSPErrorCodes.ContentModified.value)
    return await run_action(
        editor, params.command, editor.actions.open(name), selection, params.work_done_token
    )


FEATURE = Request(types.WORKSPACE_EXECUTE_COMMAND, _execute, is_taken_over=True)
