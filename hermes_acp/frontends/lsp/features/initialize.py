"""initialize: note what the editor said, before pygls answers with what there is."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification
from hermes_acp.frontends.lsp.editor.method_registration import offer_completion


def _greet(editor: EditorConnection, params: types.InitializeParams) -> None:
    editor.greet(params)
    if editor.settings.inline_completion.enabled:
        offer_completion(editor)


FEATURE = Notification(types.INITIALIZE, _greet)
