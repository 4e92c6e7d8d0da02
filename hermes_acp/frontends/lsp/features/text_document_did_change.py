"""textDocument/didChange: apply the change and cancel the suggestion for the document."""

from lsprotocol import types

from hermes_acp.frontends.lsp.editor.editor_connection import EditorConnection
from hermes_acp.frontends.lsp.editor.lsp_feature import Notification


def _change(editor: EditorConnection, params: types.DidChangeTextDocumentParams) -> None:
    editor.documents.change(params)


FEATURE = Notification(types.TEXT_DOCUMENT_DID_CHANGE, _change, is_taken_over=True)
