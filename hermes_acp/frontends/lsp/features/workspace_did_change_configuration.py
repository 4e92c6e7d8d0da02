"""workspace/didChangeConfiguration: apply the settings, or request them."""

from lsprotocol import types

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.lsp.client.lsp_client import ClientError
from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification
from hermes_acp.frontends.lsp.editor.method_registration import offer_completion
from hermes_acp.frontends.lsp.lsp_settings import SECTION, concerns_us


def _change(editor: EditorConnection, params: types.DidChangeConfigurationParams) -> None:
    given = params.settings
    if not given and editor.client.can.provide_settings:
        editor.tasks.begin(lambda: _ask(editor))
    elif concerns_us(given):
        _take(editor, given)


async def _ask(editor: EditorConnection) -> None:
    params = types.ConfigurationParams(items=[types.ConfigurationItem(section=SECTION)])
    try:
        answer = await editor.client.ask(types.WORKSPACE_CONFIGURATION, params)
    except ClientError as trouble:
        editor.client.warn(trouble.sentence())
        return
    if answer and concerns_us(answer[0]):
        _take(editor, answer[0])


def _take(editor: EditorConnection, given: object) -> None:
    try:
        editor.take_settings(given)
    except BadRequest as error:
        editor.client.warn(error.sentence())
        return
    if editor.settings.inline_completion.enabled:
        offer_completion(editor)


FEATURE = Notification(types.WORKSPACE_DID_CHANGE_CONFIGURATION, _change)
