"""initialize: store the client's capabilities and settings before pygls answers."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification
from hermes_acp.frontends.lsp.editor.method_registration import offer_completion


def _note_client(editor: EditorConnection, params: types.InitializeParams) -> None:
    editor.note_client(params)
    if editor.settings.inline_completion.enabled:
        offer_completion(editor)


FEATURE = Notification(types.INITIALIZE, _note_client)
